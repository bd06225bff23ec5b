extension Database {
    /// Everything that changes, in the order of commits: from now on, or from a commit on.
    ///
    /// For example:
    ///
    /// ```swift
    /// for try await change in db.changes(since: lastSeen) {
    ///     print(change.kind, change.collection, change.id ?? "")
    ///     lastSeen = change.resumePoint
    /// }
    /// ```
    ///
    /// It begins when this is called, not with the loop: what is committed in between is told. Only what is committed
    /// is told, each commit whole, and of a document one change a commit. A number from an earlier run goes on there;
    /// 0 tells everything that there is, and then what follows. Compaction thins the past: versions that were replaced
    /// before it are not told, and another number than 0 is refused once deletions behind it may be gone. Then
    /// read everything and begin anew; an open sequence misses nothing that matters.
    ///
    /// - Parameters:
    ///   - since: The number of the last commit that need not be told; the newest when `nil`.
    ///   - collections: The names of the collections to tell of, as of each change; all when `nil`.
    ///   - documents: Which documents changes show.
    /// - Returns: The changes; its iterator says what it throws.
    public func changes(
        since: Int? = nil, collections: [String]? = nil, documents: ChangeDocuments = .after
    ) -> Changes<BSONDocument> {
        Changes(self, since: since, collections: collections, documents: documents, codec: .documents)
    }
}

extension Database.Collection {
    /// What changes in the collection, in the order of commits: from now on, or from a commit on.
    ///
    /// For example:
    ///
    /// ```swift
    /// for try await change in people.changes() {
    ///     print(change.kind, change.after?.name ?? "")
    /// }
    /// ```
    ///
    /// What ``Database/changes(since:collections:documents:)`` says holds here. Changes that are not committed yet are
    /// not told, also where the collection is a transaction's.
    ///
    /// - Parameters:
    ///   - since: The number of the last commit that need not be told; the newest when `nil`.
    ///   - documents: Which documents changes show.
    /// - Returns: The changes; its iterator says what it throws.
    public func changes(
        since: Int? = nil, documents: Database.ChangeDocuments = .after
    ) -> Database.Changes<Element> {
        Database.Changes(session.database, since: since, collections: [name], documents: documents, codec: codec)
    }
}
