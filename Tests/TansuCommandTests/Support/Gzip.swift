import CTansuZlib
import Testing

/// The bytes as one gzip member.
func gzipped(_ bytes: [UInt8]) throws -> [UInt8] {
    var stream = z_stream()
    let size = Int32(MemoryLayout<z_stream>.size)
    let begun = deflateInit2_(
        &stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, zlibVersion(), size)
    try #require(begun == Z_OK)
    defer { deflateEnd(&stream) }
    var input = bytes
    var output = [UInt8](repeating: 0, count: Int(deflateBound(&stream, UInt(bytes.count))) + 64)
    let capacity = output.count
    let count = try input.withUnsafeMutableBufferPointer { input in
        try output.withUnsafeMutableBufferPointer { output in
            stream.next_in = input.baseAddress
            stream.avail_in = UInt32(input.count)
            stream.next_out = output.baseAddress
            stream.avail_out = UInt32(capacity)
            try #require(deflate(&stream, Z_FINISH) == Z_STREAM_END)
            return capacity - Int(stream.avail_out)
        }
    }
    return Array(output[..<count])
}

func gzipped(_ text: String) throws -> [UInt8] { try gzipped(Array(text.utf8)) }
