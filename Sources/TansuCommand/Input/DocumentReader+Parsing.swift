import TansuBSON

/// The reason why the text of a document is invalid.
struct InvalidDocument: Error, Equatable {
    var message: String
}

extension DocumentReader {
    /// Parses the document that `next()` returned last.
    func parse(_ raw: RawDocument) -> Result<BSONDocument, InvalidDocument> {
        if let problem = raw.problem { return .failure(InvalidDocument(message: problem)) }
        do {
            return .success(try withText(of: raw) { try BSONDocument(extendedJSON: $0) })
        } catch {
            return .failure(InvalidDocument(message: message(for: error, in: raw)))
        }
    }

    private func message(for error: any Error, in raw: RawDocument) -> String {
        // The most likely cause is a pretty-printed file, which the error of the parser does not show.
        if format == .lines, raw.range.count <= 1 {
            return "A document must be on one line, unless the file is one JSON array"
        }
        guard let error = error as? BSONError else { return CommandError(error).message }
        let location = error.offset.map { " (at byte \($0 + 1) of the \(format == .lines ? "line" : "element"))" }
        return CommandError.capitalized(error.message) + (location ?? "")
    }
}
