import Foundation

/// A buffered writer over a file descriptor. It exists because standard output must be fast for
/// millions of lines and because a failed write (a full disk behind `>`) must be an error.
final class OutputWriter {
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    private let capacity = 64 * 1024

    init(descriptor: Int32 = STDOUT_FILENO) {
        self.descriptor = descriptor
        buffer.reserveCapacity(capacity + 4096)
    }

    /// Adds text; it reaches the descriptor when the buffer is full or at `flush()`.
    func write(_ text: String) throws {
        buffer.append(contentsOf: text.utf8)
        if buffer.count >= capacity { try flush() }
    }

    /// Adds bytes in the same way.
    func write(bytes: [UInt8]) throws {
        buffer.append(contentsOf: bytes)
        if buffer.count >= capacity { try flush() }
    }

    /// Adds text and the end of a line.
    func writeLine(_ text: String = "") throws {
        try write(text)
        try write("\n")
    }

    /// Writes out everything so far.
    /// - Throws: `CommandFailure` when the descriptor takes no more.
    func flush() throws {
        defer { buffer.removeAll(keepingCapacity: true) }
        var offset = 0
        while offset < buffer.count {
            let written = buffer.withUnsafeBytes { bytes in
                systemWrite(descriptor, bytes[offset...])
            }
            if written < 0 {
                if errno == EINTR { continue }
                throw CommandFailure(
                    code: "IO", message: "Writing the output failed: \(systemErrorText()).",
                    status: .inputOutput)
            }
            offset += written
        }
    }
}

/// The system's `write`, named apart because `OutputWriter.write` hides it.
private func systemWrite(_ descriptor: Int32, _ bytes: Slice<UnsafeRawBufferPointer>) -> Int {
    let bytes = UnsafeRawBufferPointer(rebasing: bytes)
    return write(descriptor, bytes.baseAddress, bytes.count)
}

/// What the system says of the newest failed call.
func systemErrorText() -> String {
    String(cString: strerror(errno))
}

/// Writes a line to standard error, where nothing is left to do if that fails.
func writeError(_ text: String) {
    let writer = OutputWriter(descriptor: STDERR_FILENO)
    try? writer.writeLine(text)
    try? writer.flush()
}
