import TansuBSON

/// One document of a source, or why it is none.
struct SourceDocument {
    /// Where it is, in the unit of its source.
    var position: Int
    var content: Result<BSONDocument, InvalidDocument>
    /// Its text, if the source keeps it.
    var text: [UInt8]?
}

/// Documents in order, of a file or of a collection of another database.
protocol DocumentSource: AnyObject {
    /// What positions count: "line", "row", "byte".
    var unit: String { get }

    /// The fraction that was read, between 0 and 1, or nil when the size is not known.
    var fraction: Double? { get }

    /// The next document, or nil at the end.
    /// - Throws: `CommandError` when the source cannot be read.
    func nextDocument() throws -> SourceDocument?
}

extension DocumentReader: DocumentSource {
    var unit: String { "line" }

    func nextDocument() throws -> SourceDocument? {
        guard let raw = try next() else { return nil }
        let text = keepsText ? withText(of: raw) { Array($0) } : nil
        return SourceDocument(position: raw.line, content: parse(raw), text: text)
    }
}
