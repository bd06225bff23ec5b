// The async variants of Collection+UpdatingByClosure.swift.
extension Database.Collection {
    /// Changes one document by a closure, in one transaction: no other write commits between reading and saving it.
    ///
    /// - Parameters:
    ///   - id: Its `_id`, which must stay the same.
    ///   - body: What to change, on a thread of the database. Its error rolls back and is rethrown.
    /// - Returns: The value after the closure; `nil`, without a call of the closure, when there is no such document.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @_disfavoredOverload
    @discardableResult
    public func update(
        id: some DocumentID, _ body: @escaping @Sendable (inout Element) throws -> Void
    ) async throws -> Element? {
        let id = stored(id)
        return try await session.runCancellable(.write) { try self.using($0).update(storedID: id, body) }
    }

    /// Changes the documents that match by a closure, one after another, in one transaction.
    ///
    /// - Parameters:
    ///   - query: Which documents; the empty one matches all.
    ///   - hints: Options. Not `$fields`: documents are whole.
    ///   - body: What to change in each, on a thread of the database.
    /// - Returns: How many documents matched, and how many of those changed.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func update(
        _ query: BSONDocument, hints: BSONDocument = [:], _ body: @escaping @Sendable (inout Element) throws -> Void
    ) async throws -> Database.UpdateResult {
        try await session.runCancellable(.write) { try self.using($0).update(query, hints: hints, body) }
    }
}
