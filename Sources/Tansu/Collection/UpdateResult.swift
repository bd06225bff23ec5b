extension Database {
    /// The result of an update.
    public struct UpdateResult: Sendable, Hashable {
        /// How many documents matched.
        public let matched: Int

        /// How many of those changed.
        public let modified: Int

        /// The `_id`s of the documents that `$upsert` inserted.
        public let upserted: [BSONValue]

        /// How many documents `$dropall` removed.
        public let removed: Int

        init(matched: Int, modified: Int) {
            self.matched = matched
            self.modified = modified
            (upserted, removed) = ([], 0)
        }

        /// Nothing matched, and a document was inserted.
        init(upserted id: BSONValue) {
            (matched, modified, upserted, removed) = (0, 0, [id], 0)
        }

        init(_ document: BSONDocument) {
            matched = document["matched"]?.intValue ?? 0
            modified = document["modified"]?.intValue ?? 0
            upserted = document["upserted"]?.arrayValue.map(Array.init) ?? []
            removed = document["removed"]?.intValue ?? 0
        }
    }

    /// Which version of an updated document is returned.
    public enum ReturnedDocument: Sendable, Hashable, CaseIterable {
        /// As it was before the update.
        case before

        /// As it is after the update.
        case after
    }
}
