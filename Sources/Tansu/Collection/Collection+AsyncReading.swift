// The async variant of Collection+Reading.swift.
extension Database.Collection {
    /// The document with an id, or `nil` when there is none.
    ///
    /// - Parameter id: Its `_id`.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @_disfavoredOverload
    public func get(_ id: some DocumentID) async throws -> Element? {
        let id = id.bsonID
        return try await session.run(.read) { _ in try self.get(id) }
    }

    /// The documents with some ids, all in one snapshot.
    ///
    /// - Parameter ids: Their `_id`s.
    /// - Returns: The documents in the order of the ids. Ids without a document are left out.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @_disfavoredOverload
    public func get(ids: some Sequence<some DocumentID>) async throws -> [Element] {
        let ids = ids.map(\.bsonID)
        return try await session.runCancellable(.read) { try self.using($0).documents(ids) }
    }
}
