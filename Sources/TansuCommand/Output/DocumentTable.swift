import TansuBSON

/// Documents as the rows of a table: a column for every field that one of them has.
struct DocumentTable {
    private var columns: [String] = []
    private var documents: [BSONDocument] = []
    private let terminal: Terminal
    /// So many rows are laid out at a time, so that a long answer neither waits for its end nor fills memory.
    private let rowsAtOnce: Int
    private var isFirst = true

    /// - Parameter columns: The fields to begin with, in this order; others follow as documents have them.
    init(columns: [String] = [], terminal: Terminal, rowsAtOnce: Int = 500) {
        self.columns = columns
        self.terminal = terminal
        self.rowsAtOnce = rowsAtOnce
    }

    /// Adds a document; now and then the rows so far are written.
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

    /// The table of the documents in hand.
    func table() -> TextTable {
        var table = TextTable(headings: columns)
        table.rows = documents.map { document in
            columns.map { column in document[column].map(TextTable.Cell.init) ?? TextTable.Cell("") }
        }
        return table
    }
}

extension TextTable.Cell {
    /// A value as a person reads it: text without quotes, numbers to the right, the rest as JSON.
    init(_ value: BSONValue) {
        switch value {
        case .string(let text), .code(let text): self.init(text)
        case .objectID(let id): self.init(id.hexString)
        case .int32(let number): self.init(String(number), alignment: .right)
        case .int64(let number): self.init(String(number), alignment: .right)
        case .double(let number): self.init(String(number), alignment: .right)
        case .decimal128(let number): self.init(number.description, alignment: .right)
        case .bool(let truth): self.init(truth ? "true" : "false")
        // Outside the years 1 to 9999 a date has no such form.
        case .date(let moment) where (-62_135_596_800_000...253_402_300_799_999).contains(moment):
            self.init(value.dateValue?.ISO8601Format() ?? "")
        default: self.init(value.description)
        }
    }
}
