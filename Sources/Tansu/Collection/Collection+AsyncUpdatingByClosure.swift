// The twins of Collection+UpdatingByClosure.swift; what is said there holds here.
extension Database.Collection {
    /// Changes one document by a closure, in one transaction: nobody else writes between reading it and saving it.
    ///
    /// - Parameters:
    ///   - id: Its `_id`, which must stay the same.
    ///   - body: What to change, on a thread of the database's own. Its error rolls back and is thrown on.
    /// - Returns: The value after the closure; `nil`, without a call of the closure, when there is no such document.
    /// - Throws: As the form that is not async, and `CancellationError`.
    @discardableResult
    public func update(
        id: some DocumentID, _ body: @escaping @Sendable (inout Element) throws -> Void
    ) async throws -> Element? {
        try await session.suspendStoppable(.write) { try self.moved(to: $0).update(id: id, body) }
    }

    /// Changes the documents that match by a closure, one after another, in one transaction.
    ///
    /// - Parameters:
    ///   - query: Which documents; the empty one matches all.
    ///   - hints: How. Not `$fields`: documents are whole.
    ///   - body: What to change in each, on a thread of the database's own.
    /// - Returns: How many documents matched, and how many of those are other than before.
    /// - Throws: As the form that is not async, and `CancellationError`.
    @discardableResult
    public func update(
        _ query: BSONDocument, hints: BSONDocument = [:], _ body: @escaping @Sendable (inout Element) throws -> Void
    ) async throws -> Database.UpdateResult {
        try await session.suspendStoppable(.write) { try self.moved(to: $0).update(query, hints: hints, body) }
    }
}
