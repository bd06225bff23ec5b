extension Database {
    /// An operation of a `bulk`.
    public enum BulkOperation<Element: Sendable>: Sendable {
        /// Inserts the document, or replaces the one with the same `_id`.
        case save(Element)

        /// Inserts a document whose `_id` must not exist.
        case insert(Element)

        /// Replaces the document with the same `_id`, which must exist.
        case replace(Element)

        /// Updates the documents that match.
        case update(BSONDocument, BSONDocument, hints: BSONDocument = [:])

        /// Updates the documents that match, or inserts one.
        case upsert(BSONDocument, BSONDocument, hints: BSONDocument = [:])

        /// Removes the documents that match.
        case remove(BSONDocument, hints: BSONDocument = [:])

        /// Removes the document with that `_id`.
        case removeID(any DocumentID)
    }

    /// The outcome of an operation of a `bulk`.
    public enum BulkOutcome: Sendable {
        /// The document is saved, inserted or replaced; its `_id`.
        case saved(BSONValue)

        /// The result of the update.
        case updated(UpdateResult)

        /// How many documents were removed.
        case removed(Int)

        /// The operation failed with this error and was rolled back.
        case failed(any Error)

        /// It was not run, because an earlier one failed.
        case skipped

        /// The error, when it failed.
        public var error: (any Error)? {
            if case .failed(let error) = self { error } else { nil }
        }
    }

    /// What a `bulk` does when an operation fails.
    public enum BulkPolicy: Sendable, Hashable, CaseIterable {
        /// Everything is rolled back, and the error is thrown.
        case allOrNothing

        /// The operations before it are kept; those after it are not run.
        case stopAtFailure

        /// All others are run and kept.
        case skipFailures
    }
}
