import CTansuZlib

/// A compression of bytes that are written one after another.
protocol StreamEncoder: AnyObject {
    /// The compressed form of the next bytes, as far as there is one already.
    /// - Parameter isEnd: Whether there are no more bytes.
    func encode(_ bytes: [UInt8], isEnd: Bool) throws -> [UInt8]
}

/// A compression of bytes with gzip.
final class GzipEncoder: StreamEncoder {
    // zlib keeps a pointer to it.
    private let stream: UnsafeMutablePointer<z_stream>
    private var chunk = [UInt8](repeating: 0, count: 64 << 10)

    /// - Throws: `CommandError` when zlib cannot allocate memory.
    init() throws {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // 15 bits of window, plus 16 to select the gzip format.
        let status = deflateInit2_(
            stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, zlibVersion(),
            Int32(MemoryLayout<z_stream>.size))
        guard status == Z_OK else {
            stream.deallocate()
            throw CommandError(code: "MEMORY", message: "Cannot allocate memory for gzip")
        }
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    func encode(_ bytes: [UInt8], isEnd: Bool) throws -> [UInt8] {
        var (input, result) = (bytes, [] as [UInt8])
        input.withUnsafeMutableBufferPointer { input in
            stream.pointee.next_in = input.baseAddress
            stream.pointee.avail_in = UInt32(input.count)
            var isFull = true
            while isFull {
                let count = chunk.withUnsafeMutableBufferPointer { chunk in
                    stream.pointee.next_out = chunk.baseAddress
                    stream.pointee.avail_out = UInt32(chunk.count)
                    _ = deflate(stream, isEnd ? Z_FINISH : Z_NO_FLUSH)
                    return chunk.count - Int(stream.pointee.avail_out)
                }
                result += chunk[..<count]
                isFull = count == chunk.count
            }
        }
        return result
    }
}
