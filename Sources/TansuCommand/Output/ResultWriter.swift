import Foundation
import TansuBSON

/// A buffered writer of a file descriptor. Unlike `print`, it is fast for millions of lines and reports failed writes,
/// for example when standard output is a file on a full disk. On a terminal it escapes what the terminal would obey.
final class OutputWriter {
    private let descriptor: Int32
    private let encoder: (any StreamEncoder)?
    /// Takes the bytes instead of the descriptor.
    private let sink: (([UInt8]) throws -> Void)?
    private var buffer: [UInt8] = []
    /// Whether the text of others must do no harm to a terminal.
    private let isForTerminal: Bool
    private let capacity = 64 * 1024

    /// - Parameters:
    ///   - encoder: The compression of what is written, which `finish()` completes.
    ///   - sink: Takes the bytes instead of the descriptor.
    ///   - controls: Whether it is written to control a terminal.
    init(
        descriptor: Int32 = STDOUT_FILENO, encoder: (any StreamEncoder)? = nil,
        sink: (([UInt8]) throws -> Void)? = nil, controls: Bool = false
    ) {
        isForTerminal = !controls && encoder == nil && isatty(descriptor) == 1
        self.descriptor = descriptor
        self.encoder = encoder
        self.sink = sink
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
        if let encoder { buffer = try encoder.encode(buffer, isEnd: false) }
        try writeBuffer()
    }

    /// Writes the buffer, and the end of a compression.
    func finish() throws {
        if let encoder { buffer = try encoder.encode(buffer, isEnd: true) }
        try writeBuffer()
    }

    private func writeBuffer() throws {
        var rest: [UInt8] = []
        defer {
            buffer.removeAll(keepingCapacity: true)
            buffer += rest
        }
        if isForTerminal {
            rest = buffer.suffix(HarmlessText.incompleteTail(buffer))
            buffer = HarmlessText.onTerminal(buffer.dropLast(rest.count))
        }
        if let sink { return try sink(buffer) }
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

/// A format for the documents of a result.
enum ResultFormat: Equatable {
    /// One JSON object per line.
    case lines
    /// One JSON object: {"ok": true, "documents": [ … ]}.
    case json
    /// A table.
    case table
}

/// A writer of the documents of a result.
struct ResultWriter {
    let format: ResultFormat
    let isCanonical: Bool
    private let writer = OutputWriter()

    init(format: ResultFormat, canonical: Bool) {
        self.format = format
        isCanonical = canonical
    }

    /// Writes the documents of a source, each when it arrives. A table takes them twice if they are many.
    /// - Returns: Their number.
    func write(_ source: DocumentTable.Source) throws -> Int {
        if format == .table {
            var table = DocumentTable(terminal: .output)
            return try table.write(source, to: writer)
        }
        var count = 0
        try source { document in
            try write(document, isFirst: count == 0)
            count += 1
        }
        if format == .json { try writer.writeLine(count == 0 ? "{\"ok\": true, \"documents\": []}" : "\n]}") }
        try writer.flush()
        return count
    }

    private func write(_ document: BSONDocument, isFirst: Bool) throws {
        let text = document.json(canonical: isCanonical)
        if format == .lines { return try writer.writeLine(text) }
        try writer.write(isFirst ? "{\"ok\": true, \"documents\": [\n" : ",\n")
        try writer.write(text)
    }
}

extension BSONDocument {
    /// The document as extended JSON on one line.
    func json(canonical: Bool = false) -> String {
        extendedJSON(canonical ? .canonical : .relaxed)
    }
}

/// Prints a line to standard output.
func printLine(_ text: String) throws {
    let writer = OutputWriter()
    try writer.writeLine(text)
    try writer.flush()
}

/// Prints the result of a command: an object with `--json`, otherwise a line of text.
func printResult(_ result: BSONDocument, text: String, asJSON: Bool, done: String = "") throws {
    do { try printLine(asJSON ? resultJSON(result) : text) } catch var failure as CommandError {
        failure.remedy = done
        throw failure
    }
}

/// The JSON object of a result.
func resultJSON(_ result: BSONDocument) -> String {
    var object: BSONDocument = ["ok": true]
    for (key, value) in result { object[key] = value }
    return object.json()
}
