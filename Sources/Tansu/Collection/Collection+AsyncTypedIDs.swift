// The async variants of Collection+TypedIDs.swift.
extension Database.Collection where Element: Identifiable, Element.ID: Encodable & Sendable {
    /// The value with an id, or `nil` when there is none. It is read where the caller runs; only a document of more than
    /// 64 KiB is decoded on a thread of the database.
    ///
    /// - Parameters:
    ///   - id: Its id, which is stored as `_id`.
    ///   - isolation: The actor on which it is read: the caller's.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func get(_ id: Element.ID, isolation: isolated (any Actor)? = #isolation) async throws -> Element? {
        try await document(storedID(id))
    }

    /// The values with some ids, all in one snapshot. Up to 64 are read where the caller runs, unless they have more
    /// than 64 KiB together.
    ///
    /// - Parameters:
    ///   - ids: Their ids, which are stored as `_id`.
    ///   - isolation: The actor on which they are read: the caller's.
    /// - Returns: The values in the order of the ids. Ids without a document are left out.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func get(
        ids: some Sequence<Element.ID>, isolation: isolated (any Actor)? = #isolation
    ) async throws -> [Element] {
        try await documents(ids.map { try storedID($0) })
    }

    /// Removes a value.
    ///
    /// - Parameter id: Its id, which is stored as `_id`.
    /// - Returns: Whether it existed.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func remove(id: Element.ID) async throws -> Bool {
        let id = try storedID(id)
        return try await session.runCancellable(.write) { [name] in try $0.remove(id: id, from: name) }
    }

    /// Changes one value by a closure, in one transaction: no other write commits between reading and saving it.
    ///
    /// - Parameters:
    ///   - id: Its id, which is stored as `_id` and must stay the same.
    ///   - body: What to change, on a thread of the database.
    /// - Returns: The value after the closure; `nil`, without a call of the closure, when there is none.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func update(
        id: Element.ID, _ body: @escaping @Sendable (inout Element) throws -> Void
    ) async throws -> Element? {
        let id = try storedID(id)
        return try await session.runCancellable(.write) { try self.using($0).update(storedID: id, body) }
    }
}
