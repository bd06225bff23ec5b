/// A sequential source of bytes.
protocol ByteSource: AnyObject {
    /// Reads bytes into memory.
    /// - Returns: The number of bytes that were read, 0 only at the end of the source.
    func read(into memory: UnsafeMutableRawBufferPointer) throws -> Int

    /// The fraction of the source that was read, between 0 and 1, or nil when the size is not known.
    var fraction: Double? { get }
}

/// Opens a file, or standard input for "-". It detects gzip by the first bytes and decompresses it.
func openByteSource(path: String) throws -> any ByteSource {
    let file = try FileSource(path: path)
    if try file.peek(2) == [0x1F, 0x8B] { return try GzipSource(file) }
    return file
}
