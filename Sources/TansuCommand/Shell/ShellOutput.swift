import Foundation
import TansuBSON

/// Where the results of a shell's statements go, and in which form.
final class ShellOutput {
    enum Mode: String, CaseIterable {
        /// One JSON object per line.
        case json
        /// JSON on several lines where it does not fit in one.
        case pretty
        case table
        case csv
    }

    var mode: Mode
    /// The file of `.output`, open, instead of standard output.
    private var file: Int32?
    /// Whether long results go through a pager.
    private let pages: Bool
    /// The writer of the running statement.
    private(set) var writer = OutputWriter()
    private(set) var terminal: Terminal
    /// The lines that are shown when they are too many for a screen.
    private var pager: Pager?

    /// - Parameter isInteractive: Whether there is a user at a terminal.
    init(isInteractive: Bool) {
        terminal = .output
        mode = terminal.isInteractive ? .pretty : .json
        pages = isInteractive && terminal.isInteractive
    }

    /// Runs a statement whose results are written.
    func collecting<Result>(_ body: () throws -> Result) throws -> Result {
        terminal = file == nil ? Terminal(descriptor: STDOUT_FILENO) : .plain
        pager = pages && file == nil ? Pager(terminal: terminal) : nil
        writer = OutputWriter(descriptor: file ?? STDOUT_FILENO, sink: pager.map { pager in { try pager.add($0) } })
        defer { pager = nil }
        do {
            let result = try body()
            try writer.flush()
            try pager?.finish()
            return result
        } catch {
            // What was written before the error is shown, as without a pager.
            try? writer.flush()
            try? pager?.finish()
            throw error
        }
    }

    /// Sends results to a new or emptied file, or to standard output again.
    func send(to path: String?) throws {
        var new: Int32?
        if let path {
            try rejectDatabaseFolder(of: path)
            let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else {
                throw CommandError(
                    code: "IO", message: "Cannot write \"\(path)\": \(systemErrorText())", path: path,
                    status: .cannotCreate)
            }
            new = descriptor
        }
        if let file { close(file) }
        file = new
    }

    /// Writes a line of text, which may have styles and nothing else that controls a terminal.
    func line(_ text: String) throws { try writer.writeLine(text) }

    /// Writes a document or another value as JSON.
    func value(_ value: BSONValue) throws {
        var lines: [String] = []
        if mode == .pretty {
            let width = terminal.width ?? 80
            PrettyJSON.add(value, before: "", after: "", indent: 0, width: width, to: &lines)
        } else {
            lines = [value.extendedJSON()]
        }
        for text in lines {
            try line(terminal.isInteractive ? JSONPainter.painted(TextTable.printable(text), terminal) : text)
        }
    }

    /// Writes documents in the present mode.
    /// - Parameter source: Gives the documents, the same ones each time.
    /// - Returns: Their number.
    func documents(_ source: DocumentTable.Source) throws -> Int {
        switch mode {
        case .table:
            var table = DocumentTable(terminal: terminal)
            return try table.write(source, to: writer)
        case .csv:
            var table = SeparatedTable()
            return try table.write(source, to: self)
        case .json, .pretty:
            var count = 0
            try source { document in
                try value(.document(document))
                count += 1
            }
            return count
        }
    }

    deinit { if let file { close(file) } }
}

/// Documents as CSV, with a column for every field.
private struct SeparatedTable {
    private var names: [String] = []
    private var columns: [BytewiseText: Int] = [:]

    mutating func write(_ source: DocumentTable.Source, to output: ShellOutput) throws -> Int {
        try source { document in
            for key in document.keys where columns[BytewiseText(key)] == nil {
                columns[BytewiseText(key)] = names.count
                names.append(key)
            }
        }
        if names.isEmpty { return 0 }
        try row(names, to: output)
        var count = 0
        try source { document in
            var cells = [String](repeating: "", count: names.count)
            for (key, value) in document {
                guard let column = columns[BytewiseText(key)] else { continue }
                cells[column] = value.isNull ? "" : value.stringValue ?? TextTable.Cell(value).text
            }
            try row(cells, to: output)
            count += 1
        }
        return count
    }

    private func row(_ cells: [String], to output: ShellOutput) throws {
        let text = cells.map(Self.quoted).joined(separator: ",")
        try output.line(output.terminal.isInteractive ? TextTable.printable(text) : text)
    }

    private static func quoted(_ text: String) -> String {
        guard text.utf8.contains(where: { ",\"\r\n".utf8.contains($0) }) else { return text }
        return "\"" + text.replacing("\"", with: "\"\"") + "\""
    }
}

/// JSON on several lines, where a value that fits into one line is on one.
enum PrettyJSON {
    /// Adds the lines of a value.
    /// - Parameters:
    ///   - before: What stands before it on its line: its key.
    ///   - after: What stands after it: a comma.
    static func add(
        _ value: BSONValue, before: String, after: String, indent: Int, width: Int, to lines: inout [String]
    ) {
        let space = String(repeating: " ", count: indent)
        let text = value.extendedJSON()
        let items: [(key: String, value: BSONValue)]
        let (open, close): (String, String)
        if let document = value.documentValue {
            items = document.map { (jsonText($0.key) + ": ", $0.value) }
            (open, close) = ("{", "}")
        } else if let array = value.arrayValue {
            items = array.map { ("", $0) }
            (open, close) = ("[", "]")
        } else {
            lines.append(space + before + text + after)
            return
        }
        guard !items.isEmpty, DisplayWidth.of(space + before + text + after) > width else {
            lines.append(space + before + text + after)
            return
        }
        lines.append(space + before + open)
        for (number, item) in items.enumerated() {
            let comma = number + 1 < items.count ? "," : ""
            add(item.value, before: item.key, after: comma, indent: indent + 2, width: width, to: &lines)
        }
        lines.append(space + close + after)
    }
}

/// Colors for JSON on a terminal.
enum JSONPainter {
    /// A line of JSON with colors: keys, text, and other values.
    static func painted(_ line: String, _ terminal: Terminal) -> String {
        guard terminal.allowsStyle else { return line }
        let bytes = Array(line.utf8)
        var (result, index) = ("", 0)
        while index < bytes.count {
            let start = index
            switch bytes[index] {
            case UInt8(ascii: "\""):
                index += 1
                while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
                    index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
                }
                index = min(index + 1, bytes.count)
                let text = String(decoding: bytes[start..<index], as: UTF8.self)
                let next = bytes[index...].first { $0 != 0x20 }
                result += next == UInt8(ascii: ":") ? terminal.cyan(text) : terminal.green(text)
            case let byte where isPunctuation(byte):
                while index < bytes.count, isPunctuation(bytes[index]) { index += 1 }
                result += String(decoding: bytes[start..<index], as: UTF8.self)
            default:
                while index < bytes.count, !isPunctuation(bytes[index]), bytes[index] != UInt8(ascii: "\"") {
                    index += 1
                }
                result += terminal.yellow(String(decoding: bytes[start..<index], as: UTF8.self))
            }
        }
        return result
    }

    private static func isPunctuation(_ byte: UInt8) -> Bool { "{}[],: ".utf8.contains(byte) }
}
