import TansuBSON

/// A table of documents with a column for every field.
struct DocumentTable {
    private var columns: [String] = []
    private var documents: [BSONDocument] = []
    private let terminal: Terminal
    /// The number of rows that are written at a time. It bounds the memory for large results.
    private let rowsAtOnce: Int
    private var isFirst = true

    /// - Parameter columns: The first columns. The other fields of documents follow in the order of their appearance.
    init(columns: [String] = [], terminal: Terminal, rowsAtOnce: Int = 500) {
        self.columns = columns
        self.terminal = terminal
        self.rowsAtOnce = rowsAtOnce
    }

    /// Adds a document, and writes the rows when there are enough of them.
    mutating func append(_ document: BSONDocument, to writer: OutputWriter) throws {
        for key in document.keys where !columns.contains(key) { columns.append(key) }
        documents.append(document)
        if documents.count == rowsAtOnce { try flush(to: writer) }
    }

    /// Writes the rows that are not written yet.
    mutating func flush(to writer: OutputWriter) throws {
        guard !documents.isEmpty else { return }
        if !isFirst { try writer.writeLine() }
        isFirst = false
        for line in table().lines(maximumWidth: terminal.width, style: terminal) {
            try writer.writeLine(line)
        }
        documents.removeAll()
        try writer.flush()
    }

    /// The table of the documents that are not written yet.
    func table() -> TextTable {
        var table = TextTable(headings: columns)
        table.rows = documents.map { document in
            columns.map { column in document[column].map(TextTable.Cell.init) ?? TextTable.Cell("") }
        }
        return table
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
        // ISO 8601 covers only the years 1 to 9999.
        case .date(let milliseconds) where (-62_135_596_800_000...253_402_300_799_999).contains(milliseconds):
            self.init(value.dateValue?.ISO8601Format() ?? "")
        default: self.init(value.description)
        }
    }
}

/// Prints documents as a table with the given columns.
func printTable(_ documents: [BSONDocument], columns: [String]) throws {
    let writer = OutputWriter()
    var table = TextTable(headings: columns)
    table.rows = documents.map { document in
        columns.map { column in document[column].map(TextTable.Cell.init) ?? TextTable.Cell("") }
    }
    for line in table.lines(maximumWidth: Terminal.output.width, style: .output) {
        try writer.writeLine(line)
    }
    try writer.flush()
}
