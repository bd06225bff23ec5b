import Foundation
import TansuBSON

/// A table of documents with a column for every field.
///
/// The width of a column is known only after the last document. Results of ordinary size are kept until then; for larger
/// ones the documents are read twice, so that memory stays bounded.
struct DocumentTable {
    /// Calls a closure with one document after another, the same ones each time.
    typealias Source = (_ body: (BSONDocument) throws -> Void) throws -> Void

    private let terminal: Terminal
    /// The size in bytes of the rows that are kept.
    private let keptBytes: Int
    private var layout = TextTable.Layout()
    /// The columns by the bytes of their names.
    private var columns: [[UInt8]: Int] = [:]
    /// The names of the columns, for documents that have the same fields in the same order.
    private var names: [String] = []

    init(terminal: Terminal, keptBytes: Int = 32 << 20) {
        self.terminal = terminal
        self.keptBytes = keptBytes
    }

    /// Writes the documents.
    /// - Returns: Their number.
    mutating func write(_ source: Source, to writer: OutputWriter) throws -> Int {
        var rows: [[TextTable.Cell?]] = []
        var (count, bytes) = (0, 0)
        try source { document in
            let row = self.row(document)
            layout.measure(row)
            count += 1
            bytes += document.bytes.count
            if bytes <= keptBytes { rows.append(row) } else { rows = [] }
        }
        guard count > 0 else { return 0 }
        layout.fit(terminal.width)
        for line in layout.head(style: terminal) { try writer.writeLine(line) }
        if bytes <= keptBytes {
            for row in rows { try writer.writeLine(layout.line(row)) }
        } else {
            try source { try writer.writeLine(layout.line(row($0))) }
        }
        try writer.flush()
        return count
    }

    /// The cells of a document. A field that no document before it has is a new column.
    private mutating func row(_ document: BSONDocument) -> [TextTable.Cell?] {
        var row = [TextTable.Cell?](repeating: nil, count: layout.columnCount)
        var next = 0
        for (key, value) in document {
            let column = column(of: key, expected: next)
            if column == row.count { row.append(nil) }
            row[column] = TextTable.Cell(value)
            next = column + 1
        }
        return row
    }

    /// The column of a field, which is a new one when there is none.
    private mutating func column(of key: String, expected: Int) -> Int {
        if expected < names.count, names[expected].utf8.elementsEqual(key.utf8) { return expected }
        let bytes = Array(key.utf8)
        if let column = columns[bytes] { return column }
        columns[bytes] = names.count
        names.append(key)
        layout.addColumn(key)
        return names.count - 1
    }
}

extension TextTable.Cell {
    /// Creates the cell of a value: text without quotes, numbers aligned to the right, other values as JSON.
    init(_ value: BSONValue) {
        switch value {
        case .string(let text), .code(let text): self.init(text)
        case .objectID(let id): self.init(id.hexString)
        case .int32(let number): self.init(String(number), alignment: .right)
        case .int64(let number): self.init(String(number), alignment: .right)
        case .double(let number): self.init(String(number), alignment: .right)
        case .decimal128(let number): self.init(number.description, alignment: .right)
        case .bool(let truth): self.init(truth ? "true" : "false")
        case .date(let milliseconds): self.init(ISO8601.text(milliseconds) ?? value.description)
        default: self.init(value.description)
        }
    }
}

extension TextTable {
    /// A table of documents with the given columns.
    init(_ documents: [BSONDocument], columns: [String]) {
        self.init(headings: columns)
        rows = documents.map { document in columns.map { document[$0].map(Cell.init) ?? Cell("") } }
    }
}

/// Prints documents as a table with the given columns.
func printTable(_ documents: [BSONDocument], columns: [String]) throws {
    let writer = OutputWriter()
    let table = TextTable(documents, columns: columns)
    for line in table.lines(maximumWidth: Terminal.output.width, style: .output) {
        try writer.writeLine(line)
    }
    try writer.flush()
}
