import CTansuZlib

/// A source that decompresses gzip. It supports several members, as in the output of `cat a.gz b.gz`.
///
/// The stream has a stable address because zlib keeps a pointer to it in its state.
final class GzipSource: ByteSource {
    private let file: FileSource
    private let stream: UnsafeMutablePointer<z_stream>
    private let input: UnsafeMutableRawBufferPointer
    private var isBetweenMembers = false
    private var isDone = false

    /// - Throws: `CommandError` when zlib cannot allocate memory.
    init(_ file: FileSource) throws {
        self.file = file
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        input = .allocate(byteCount: 64 * 1024, alignment: 1)
        // 15 bits of window, plus 16 to select the gzip format.
        let size = Int32(MemoryLayout<z_stream>.size)
        guard inflateInit2_(stream, 15 + 16, zlibVersion(), size) == Z_OK else {
            throw CommandError(
                code: "MEMORY", message: "Cannot allocate memory to decompress \"\(file.name)\"", path: file.name)
        }
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
        input.deallocate()
    }

    var fraction: Double? { file.fraction }
    var name: String { file.name }

    func read(into memory: UnsafeMutableRawBufferPointer) throws -> Int {
        let capacity = min(memory.count, 1 << 30)
        stream.pointee.next_out = memory.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_out = UInt32(capacity)
        while !isDone, stream.pointee.avail_out == UInt32(capacity) {
            if stream.pointee.avail_in == 0, try !refill() {
                guard isBetweenMembers else { throw corrupt("it is truncated") }
                isDone = true
                break
            }
            if isBetweenMembers {
                let next = stream.pointee.next_in.pointee
                if next == 0 {
                    // Padding, as on tapes.
                    stream.pointee.next_in += 1
                    stream.pointee.avail_in -= 1
                    continue
                }
                guard next == 0x1F else { throw corrupt("something else follows its end") }
                inflateReset(stream)
                isBetweenMembers = false
            }
            switch inflate(stream, Z_NO_FLUSH) {
            case Z_OK, Z_BUF_ERROR: break
            case Z_STREAM_END: isBetweenMembers = true
            case Z_MEM_ERROR:
                throw CommandError(
                    code: "MEMORY", message: "Cannot allocate memory to decompress \"\(file.name)\"",
                    path: file.name)
            default:
                throw corrupt(stream.pointee.msg.map { String(cString: $0) } ?? "not gzip")
            }
        }
        return capacity - Int(stream.pointee.avail_out)
    }

    private func refill() throws -> Bool {
        let got = try file.read(into: input)
        stream.pointee.next_in = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_in = UInt32(got)
        return got > 0
    }

    private func corrupt(_ reason: String) -> CommandError {
        CommandError(
            code: "BAD_GZIP", message: "The gzip data of \"\(file.name)\" is corrupt: \(reason)",
            path: file.name, status: .invalidInput)
    }
}
