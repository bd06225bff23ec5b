extension Database {
    /// What an update came to.
    public struct UpdateResult: Sendable, Hashable {
        /// How many documents matched.
        public let matched: Int

        /// How many of those are other than before.
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

        init(_ document: BSONDocument) {
            matched = document["matched"]?.intValue ?? 0
            modified = document["modified"]?.intValue ?? 0
            upserted = document["upserted"]?.arrayValue.map(Array.init) ?? []
            removed = document["removed"]?.intValue ?? 0
        }
    }

    /// Which form of a document comes back from its update.
    public enum ReturnedDocument: Sendable, Hashable, CaseIterable {
        /// As it was.
        case before

        /// As it is now.
        case after
    }
}
