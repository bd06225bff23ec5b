import CTansuZlib

package struct GunzipError: Error {}

/// The content of a gzip file.
package func gunzip(_ bytes: [UInt8]) throws -> [UInt8] {
    var stream = z_stream()
    // 16 asks for gzip's header.
    guard inflateInit2_(&stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
        throw GunzipError()
    }
    defer { inflateEnd(&stream) }
    var input = bytes
    var out: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    return try input.withUnsafeMutableBufferPointer { input in
        stream.next_in = input.baseAddress
        stream.avail_in = UInt32(input.count)
        while true {
            let (code, count) = piece.withUnsafeMutableBufferPointer { piece in
                stream.next_out = piece.baseAddress
                stream.avail_out = UInt32(piece.count)
                return (inflate(&stream, Z_NO_FLUSH), piece.count - Int(stream.avail_out))
            }
            out += piece[..<count]
            if code == Z_STREAM_END { return out }
            guard code == Z_OK else { throw GunzipError() }
        }
    }
}
