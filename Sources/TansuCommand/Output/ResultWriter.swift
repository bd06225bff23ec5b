import TansuBSON

/// A format for the documents of a result.
enum ResultFormat: Equatable {
    /// One JSON object per line.
    case lines
    /// One JSON object: {"ok": true, "documents": [ … ]}.
    case json
    /// A table.
    case table
}

/// A writer of the documents of a result. It writes each document when it arrives.
struct ResultWriter {
    let format: ResultFormat
    let isCanonical: Bool
    private(set) var count = 0
    private let writer = OutputWriter()
    private var table = DocumentTable(terminal: .output)

    init(format: ResultFormat, canonical: Bool) {
        self.format = format
        isCanonical = canonical
    }

    mutating func write(_ document: BSONDocument) throws {
        switch format {
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

    /// Writes the end of the result.
    mutating func finish() throws {
        switch format {
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

/// Prints a line to standard output.
func printLine(_ text: String) throws {
    let writer = OutputWriter()
    try writer.writeLine(text)
    try writer.flush()
}

/// Prints the result of a command: an object with `--json`, otherwise a line of text.
func printResult(_ result: BSONDocument, text: String, asJSON: Bool) throws {
    var object: BSONDocument = ["ok": true]
    for (key, value) in result { object[key] = value }
    try printLine(asJSON ? object.json() : text)
}
