import TansuBSON

/// Why a record is no document.
struct RecordProblem: Error, Equatable {
    var message: String
}

extension RecordReader {
    /// Reads the record that `next()` returned last as JSON.
    func document(of record: Record) -> Result<BSONDocument, RecordProblem> {
        if let problem = record.problem { return .failure(RecordProblem(message: problem + ".")) }
        do {
            return .success(try withText(of: record) { try BSONDocument(extendedJSON: $0) })
        } catch {
            return .failure(RecordProblem(message: message(for: error, in: record)))
        }
    }

    private func message(for error: any Error, in record: Record) -> String {
        // A pretty-printed file is the likeliest mistake, and its error alone would not tell.
        if format == .lines, record.range.count <= 1 {
            return "A document must stand on one line, unless the file is one JSON array."
        }
        guard let error = error as? BSONError else { return String(describing: error) + "." }
        let place = error.offset.map { " (at byte \($0 + 1) of the \(format == .lines ? "line" : "element"))" }
        return CommandFailure.sentence(error.message) + (place ?? "") + "."
    }
}
