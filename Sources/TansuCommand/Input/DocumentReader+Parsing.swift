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
            if let table { return .success(try withText(of: raw) { try table.document($0) }) }
            return .success(try withText(of: raw) { try BSONDocument(storedJSON: $0) })
        } catch {
            return .failure(InvalidDocument(message: message(for: error, in: raw)))
        }
    }

    private func message(for error: any Error, in raw: RawDocument) -> String {
        if let error = error as? InvalidDocument { return error.message }
        guard let error = error as? BSONError else { return CommandError(error).message }
        let isOneLine = withText(of: raw) { !$0.contains(.newline) }
        let whole = format == .array ? "element" : isOneLine ? "line" : "document"
        let location = error.offset.map { " (at byte \($0 + 1) of the \(whole))" }
        return CommandError.capitalized(error.message) + (location ?? "")
    }
}
