import TansuBSON

/// How documents are printed.
enum DocumentStyle: Equatable {
    /// One JSON object a line.
    case lines
    /// One JSON object: {"ok": true, "documents": [ … ]}.
    case json
    /// A table for people.
    case table
}

/// Writes the documents of an answer one after the other, as they come.
struct AnswerWriter {
    let style: DocumentStyle
    let isCanonical: Bool
    private(set) var count = 0
    private let writer = OutputWriter()
    private var table = DocumentTable(terminal: .output)

    init(style: DocumentStyle, canonical: Bool) {
        self.style = style
        isCanonical = canonical
    }

    mutating func write(_ document: BSONDocument) throws {
        switch style {
        case .lines:
            try writer.writeLine(document.json(canonical: isCanonical))
        case .json:
            try writer.write(count == 0 ? "{\"ok\": true, \"documents\": [\n" : ",\n")
            try writer.write(document.json(canonical: isCanonical))
        case .table:
            try table.append(document, to: writer)
        }
        count += 1
    }

    /// Writes what is left.
    mutating func finish() throws {
        switch style {
        case .lines: break
        case .json: try writer.writeLine(count == 0 ? "{\"ok\": true, \"documents\": []}" : "\n]}")
        case .table: try table.flush(to: writer)
        }
        try writer.flush()
    }
}

extension BSONDocument {
    /// The document as extended JSON on one line.
    func json(canonical: Bool = false) -> String {
        extendedJSON(canonical ? .canonical : .relaxed)
    }
}

/// Prints one line, or one JSON object, to standard output.
func printLine(_ text: String) throws {
    let writer = OutputWriter()
    try writer.writeLine(text)
    try writer.flush()
}

/// Prints the answer of a command that has nothing to list: an object for programs, a line for people.
func printAnswer(_ answer: BSONDocument, text: String, asJSON: Bool) throws {
    var object: BSONDocument = ["ok": true]
    for (key, value) in answer { object[key] = value }
    try printLine(asJSON ? object.json() : text)
}
