/// The validator of a collection, for documents that are not saved as its documents, such as revisions that lose a conflict.
package struct DocumentValidator: Sendable {
    private enum Condition {
        case schema(DocumentSchema)
        case query(EngineMatcher)
    }

    private let condition: Condition
    private let isModerate: Bool

    /// Reads the options of a collection. `nil` when they refuse no document.
    package init?(options: BSONDocument) throws {
        let level = options["validationLevel"]?.stringValue.flatMap(Database.ValidationLevel.init) ?? .strict
        guard level == .strict || level == .moderate, let validator = options["validator"]?.documentValue else {
            return nil
        }
        isModerate = level == .moderate
        if let schema = try? DocumentSchema(validator) {
            condition = .schema(schema)
        } else {
            condition = .query(try EngineMatcher(validator))
        }
    }

    /// Throws `.invalidDocument` for a document that a save to the collection would refuse.
    ///
    /// - Parameter former: The document that it replaces; asked for when that matters.
    package func validate(
        _ document: BSONDocument, of collection: String, replacing former: () throws -> BSONDocument?
    ) throws {
        do {
            try check(document, of: collection)
        } catch let error as TansuError where error.code == .invalidDocument && isModerate {
            guard let former = try former() else { throw error }
            do {
                try check(former, of: collection)
            } catch let known as TansuError where known.code == .invalidDocument {
                return
            }
            throw error
        }
    }

    private func check(_ document: BSONDocument, of collection: String) throws {
        switch condition {
        case .schema(let schema):
            try schema.validate(document, of: collection)
        case .query(let matcher):
            // An expression that fails is a violation.
            guard (try? matcher.matches(document)) == true else {
                throw TansuError(
                    .invalidDocument, "The document violates the validator of collection \"\(collection)\"",
                    context: "validator")
            }
        }
    }
}
