extension Database {
    /// One of the changes of a `bulk`.
    public enum BulkOperation<Element: Sendable>: Sendable {
        /// Inserts the document, or replaces the one with the same `_id`.
        case save(Element)

        /// Inserts a document whose `_id` must be new.
        case insert(Element)

        /// Replaces the document with the same `_id`, which must be there.
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

    /// What came of one change of a `bulk`.
    public enum BulkOutcome: Sendable {
        /// The document is saved, inserted or replaced; its `_id`.
        case saved(BSONValue)

        /// What the update came to.
        case updated(UpdateResult)

        /// How many documents were removed.
        case removed(Int)

        /// Nothing of this change is kept: what was wrong with it.
        case failed(any Error)

        /// It was not tried, for one before it failed.
        case skipped

        /// What was wrong with it.
        public var error: (any Error)? {
            if case .failed(let error) = self { error } else { nil }
        }
    }

    /// What a `bulk` does about a change that fails.
    public enum BulkPolicy: Sendable, Hashable, CaseIterable {
        /// Nothing of the whole is kept, and the error is thrown.
        case allOrNothing

        /// The changes before it are kept; those after it are not tried.
        case stopAtFailure

        /// All others are tried, and kept.
        case skipFailures
    }
}
