extension Database {
    /// The change stream of the database: the events of all commits in their order, from now on or after a resume
    /// token.
    ///
    /// For example:
    ///
    /// ```swift
    /// for try await change in db.changes(since: lastSeen) {
    ///     print(change.kind, change.collection, change.id ?? "")
    ///     lastSeen = change.resumeToken
    /// }
    /// ```
    ///
    /// It begins when this is called, not with the loop: commits in between are delivered. There are events of
    /// committed changes only, one per document and commit. A resume token of an earlier run continues there; 0
    /// delivers everything that is stored, and then what follows. Compaction removes history: versions that were
    /// replaced before it have no events, and a token other than 0 is rejected once removals after it may be lost. Then
    /// read everything and start a new sequence. An open sequence misses no removal.
    ///
    /// - Parameters:
    ///   - since: A resume token; the newest commit when `nil`.
    ///   - collections: The names of the collections, as of each event; all when `nil`.
    ///   - documents: Which versions of documents the events have.
    /// - Returns: The events; see its iterator for errors.
    public func changes(
        since: Int? = nil, collections: [String]? = nil, documents: ChangeDocuments = .after
    ) -> Changes<BSONDocument> {
        Changes(self, since: since, collections: collections, documents: documents, codec: .documents)
    }
}

extension Database.Collection {
    /// The change stream of the collection: the events of all commits in their order, from now on or after a resume
    /// token.
    ///
    /// For example:
    ///
    /// ```swift
    /// for try await change in people.changes() {
    ///     print(change.kind, change.after?.name ?? "")
    /// }
    /// ```
    ///
    /// It behaves as ``Database/changes(since:collections:documents:)``. Changes that are not committed have no events,
    /// also when the collection belongs to a transaction.
    ///
    /// - Parameters:
    ///   - since: A resume token; the newest commit when `nil`.
    ///   - documents: Which versions of documents the events have.
    /// - Returns: The events; see its iterator for errors.
    public func changes(
        since: Int? = nil, documents: Database.ChangeDocuments = .after
    ) -> Database.Changes<Element> {
        Database.Changes(session.database, since: since, collections: [name], documents: documents, codec: codec)
    }
}
