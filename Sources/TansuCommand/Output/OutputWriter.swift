import Foundation

/// A buffered writer of a file descriptor. Unlike `print`, it is fast for millions of lines and reports failed writes,
/// for example when standard output is a file on a full disk.
final class OutputWriter {
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private let capacity = 64 * 1024

    init(descriptor: Int32 = STDOUT_FILENO) {
        self.descriptor = descriptor
        buffer.reserveCapacity(capacity + 4096)
    }

    /// Adds text to the buffer, which is written when it is full or at `flush()`.
    func write(_ text: String) throws {
        buffer.append(contentsOf: text.utf8)
        if buffer.count >= capacity { try flush() }
    }

    /// Adds bytes to the buffer.
    func write(bytes: [UInt8]) throws {
        buffer.append(contentsOf: bytes)
        if buffer.count >= capacity { try flush() }
    }

    /// Adds text and a newline to the buffer.
    func writeLine(_ text: String = "") throws {
        try write(text)
        try write("\n")
    }

    /// Writes the buffer to the descriptor.
    /// - Throws: `CommandError` when the write fails.
    func flush() throws {
        defer { buffer.removeAll(keepingCapacity: true) }
        var offset = 0
        while offset < buffer.count {
            let written = buffer.withUnsafeBytes { bytes in
                systemWrite(descriptor, bytes[offset...])
            }
            if written < 0 {
                if errno == EINTR { continue }
                let (number, reason) = (errno, systemErrorText())
                var failure = CommandError(
                    code: [ENOSPC, EDQUOT, EFBIG].contains(number) ? "FULL" : "IO",
                    message: "Cannot write the output: \(reason)")
                failure.isOfOutput = descriptor == STDOUT_FILENO
                throw failure
            }
            offset += written
        }
    }
}

/// The system's `write`, under another name because `OutputWriter.write` hides it.
private func systemWrite(_ descriptor: Int32, _ bytes: Slice<UnsafeRawBufferPointer>) -> Int {
    let bytes = UnsafeRawBufferPointer(rebasing: bytes)
    return write(descriptor, bytes.baseAddress, bytes.count)
}

/// The system's description of `errno`.
func systemErrorText() -> String {
    String(cString: strerror(errno))
}

/// Writes a line to standard error and ignores a failure.
func writeError(_ text: String) {
    let writer = OutputWriter(descriptor: STDERR_FILENO)
    try? writer.writeLine(text)
    try? writer.flush()
}
