/// A sequential source of bytes.
protocol ByteSource: AnyObject {
    /// Reads bytes into memory.
    /// - Returns: The number of bytes that were read, 0 only at the end of the source.
    func read(into memory: UnsafeMutableRawBufferPointer) throws -> Int

    /// The fraction of the source that was read, between 0 and 1, or nil when the size is not known.
    var fraction: Double? { get }

    /// The name for messages.
    var name: String { get }
}

/// Opens a file, or standard input for "-", as text in UTF-8. It detects gzip by the first bytes and decompresses it.
/// - Parameter encoding: The encoding of the text, or nil for UTF-8, or UTF-16 with a byte order mark.
func openByteSource(path: String, encoding: TextEncoding? = nil) throws -> any ByteSource {
    let file = try FileSource(path: path)
    let isCompressed = try file.peek(2).starts(with: [0x1F, 0x8B])
    return DecodingSource(isCompressed ? try GzipSource(file) : file, encoding: encoding)
}
