import Foundation
import TansuBSON

/// A table of documents with a column for every field, in CSV, TSV or Markdown. The documents are read twice: for the names
/// of the columns, and to write them. So memory stays bounded.
struct ExportTable {
    private static let columnLimit = 10_000

    private let format: ExportFormat
    private let order: [String]
    private let isForSpreadsheets: Bool
    private let isForTerminal: Bool
    private var names: [String] = []
    private var columns: [BytewiseText: Int] = [:]
    private var result = ExportResult()

    /// - Parameters:
    ///   - order: The fields whose columns come first, also those that no document has.
    ///   - isForSpreadsheets: Whether text is written so that spreadsheets take it for no formula.
    ///   - isForTerminal: Whether control characters are escaped, so that a document cannot control the terminal.
    init(format: ExportFormat, order: [String], isForSpreadsheets: Bool, isForTerminal: Bool) {
        (self.format, self.order) = (format, order)
        (self.isForSpreadsheets, self.isForTerminal) = (isForSpreadsheets, isForTerminal)
    }

    /// Writes the documents of a source.
    mutating func write(_ source: DocumentTable.Source, to writer: OutputWriter) throws -> ExportResult {
        try source { document in
            try Self.forEachCell(of: document, "", depth: 0) { path, _ in try addColumn(path) }
        }
        for name in order where !names.contains(where: { Self.isColumn($0, of: name) }) { try addColumn(name) }
        sortColumns()
        result.columns = names.count
        if isForSpreadsheets { try writer.write("\u{FEFF}") }
        if !names.isEmpty {
            try writer.write(line(names.map { text(of: .string($0)) }))
            if format == .markdown { try writer.write(line(names.map { _ in "---" })) }
        }
        try source { document in
            result.documents += 1
            var cells = [String](repeating: "", count: names.count)
            Self.forEachCell(of: document, "", depth: 0) { path, value in
                if let column = columns[BytewiseText(path)] { cells[column] = text(of: value) }
            }
            try writer.write(line(cells))
        }
        return result
    }

    // MARK: Columns

    /// Calls a closure with the path and value of each field that is no document with fields.
    private static func forEachCell(
        of document: BSONDocument, _ prefix: String, depth: Int, _ body: (String, BSONValue) throws -> Void
    ) rethrows {
        for (key, value) in document {
            let hasDot = key.utf8.contains(UInt8(ascii: "."))
            let path = prefix + (hasDot ? key.parts(separatedBy: ".").joined(separator: "\\.") : key)
            if case .document(let inner) = value, !inner.isEmpty, depth < 100 {
                try forEachCell(of: inner, path + ".", depth: depth + 1, body)
            } else {
                try body(path, value)
            }
        }
    }

    private mutating func addColumn(_ path: String) throws {
        let key = BytewiseText(path)
        guard columns[key] == nil else { return }
        guard names.count < Self.columnLimit else {
            throw CommandError(
                code: "TOO_LARGE", message: "The documents have more than \(Self.columnLimit) different fields",
                path: path, remedy: "choose some with \"--fields\", or export JSON")
        }
        columns[key] = names.count
        names.append(path)
    }

    /// Puts the columns into the order of the fields that were asked for; the others are in that of their first occurrence.
    private mutating func sortColumns() {
        let ranks = names.map { name in
            order.firstIndex { Self.isColumn(name, of: $0) } ?? (name == "_id" ? -1 : order.count)
        }
        names = names.indices.sorted { (ranks[$0], $0) < (ranks[$1], $1) }.map { names[$0] }
        for (column, name) in names.enumerated() { columns[BytewiseText(name)] = column }
    }

    /// Whether the path of a column is that of a field, or of one in it.
    private static func isColumn(_ path: String, of field: String) -> Bool {
        path.utf8.elementsEqual(field.utf8) || path.utf8.starts(with: (field + ".").utf8)
    }

    private func line(_ cells: [String]) -> String {
        switch format {
        case .markdown: "| " + cells.joined(separator: " | ") + " |\n"
        case .tsv: cells.joined(separator: "\t") + "\n"
        default: cells.joined(separator: ",") + "\n"
        }
    }

    // MARK: Cells

    private mutating func text(of value: BSONValue) -> String {
        switch value {
        case .string(let text), .code(let text): return quoted(text, isText: true)
        case .null, .undefined: return ""
        case .array, .document, .timestamp, .regularExpression, .minKey, .maxKey, .dbPointer, .codeWithScope, .symbol:
            return quoted(value.extendedJSON(), isText: false)
        case .binary(let binary):
            guard let uuid = binary.uuid else { return quoted(value.extendedJSON(), isText: false) }
            return uuid.uuidString.asciiLowercased
        // The texts of these have nothing that would have to be quoted.
        case .objectID, .int32, .int64, .double, .decimal128, .bool, .date: return TextTable.Cell(value).text
        }
    }

    private mutating func quoted(_ text: String, isText: Bool) -> String {
        if format == .markdown { return Self.markdown(text) }
        var text = isForTerminal ? TextTable.printable(text) : text
        let first = text.utf8.first
        if isText, let first, Self.formulaBytes.contains(first) {
            result.formulas += 1
            if isForSpreadsheets { text = "'" + text }
        }
        // Without quotes an import may take these for something else than text.
        let isAmbiguous =
            isText
            && (first.map { (0x30...0x39).contains($0) || $0 == 0x2D } ?? true
                || ["true", "false", "null"].contains(text) || text.utf8.starts(with: RejectsFile.mark))
        let hasSpecial = text.utf8.contains {
            [.quote, 0x2C, 0x3B, 0x09, 0x7C, .newline, .carriageReturn].contains($0)
        }
        guard isAmbiguous || hasSpecial else { return text }
        return "\"" + text.parts(separatedBy: "\"").joined(separator: "\"\"") + "\""
    }

    /// What a formula begins with, and control characters that spreadsheets skip before one.
    private static let formulaBytes = Array("=+-@\t\r\n".utf8)

    /// A text for a cell of a table of Markdown, on one line.
    private static func markdown(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n": result += "<br>"
            case "\r": break
            case "<": result += "&lt;"
            case "&": result += "&amp;"
            case "|", "\\", "`", "*", "_", "[", "]": result += "\\" + String(scalar)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return TextTable.printable(result)
    }
}
