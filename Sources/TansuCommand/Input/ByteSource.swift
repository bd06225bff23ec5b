import Foundation

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

extension ByteSource {
    /// Copies what is left to a new file.
    func copy(to path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw CommandError(
                code: "IO", message: "Cannot create the temporary file \"\(path)\": \(systemErrorText())", path: path)
        }
        defer { close(descriptor) }
        let writer = OutputWriter(descriptor: descriptor)
        while true {
            try Interruption.check()
            let bytes = try [UInt8](unsafeUninitializedCapacity: 1 << 16) { memory, count in
                count = try read(into: UnsafeMutableRawBufferPointer(memory))
            }
            if bytes.isEmpty { return try writer.flush() }
            try writer.write(bytes: bytes)
        }
    }
}
