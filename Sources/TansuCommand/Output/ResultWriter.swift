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
