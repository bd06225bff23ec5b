// Ids of the type that the collection's values have.
extension Database.Collection where Element: Identifiable, Element.ID: Encodable & Sendable {
    /// The value with an id, or `nil` when there is none.
    ///
    /// - Parameter id: Its id, which is stored as `_id`.
    /// - Throws: ``TansuError`` with `.invalidID`; `DecodingError`.
    public func get(_ id: Element.ID) throws -> Element? {
        try document(storedID(id))
    }

    /// The values with some ids, all in one snapshot.
    ///
    /// For example:
    ///
    /// ```swift
    /// let authors = try people.get(ids: articles.map(\.authorID))
    /// ```
    ///
    /// - Parameter ids: Their ids, which are stored as `_id`.
    /// - Returns: The values in the order of the ids. Ids without a document are left out.
    /// - Throws: ``TansuError`` with `.invalidID`; `DecodingError`.
    public func get(ids: some Sequence<Element.ID>) throws -> [Element] {
        try documents(ids.map { try storedID($0) })
    }

    /// Removes a value.
    ///
    /// - Parameter id: Its id, which is stored as `_id`.
    /// - Returns: Whether it existed.
    /// - Throws: ``TansuError`` with `.invalidID`, or what a commit can throw.
    @discardableResult
    public func remove(id: Element.ID) throws -> Bool {
        try session.remove(id: storedID(id), from: name)
    }

    /// Changes one value by a closure, in one transaction: no other write commits between reading and saving it.
    ///
    /// For example:
    ///
    /// ```swift
    /// try people.update(id: mike.id) { $0.age += 1 }
    /// ```
    ///
    /// - Parameters:
    ///   - id: Its id, which is stored as `_id` and must stay the same.
    ///   - body: What to change.
    /// - Returns: The value after the closure; `nil`, without a call of the closure, when there is none.
    /// - Throws: As for an id of any type.
    @discardableResult
    public func update(id: Element.ID, _ body: (inout Element) throws -> Void) throws -> Element? {
        try update(storedID: storedID(id), body)
    }
}

// MARK: - Async typed IDs

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

// MARK: - Other IDs

// Ids of another type than the collection's values have: `people.get(5)`, where ids are UUIDs, would never find anything.
//
// Swift cannot take back the calls that accept an id of any type, and an unavailable overload does not hide them. But of
// two overloads that fit equally well and better than all others, the compiler takes neither. These are such pairs, for
// the types of ids that many collections have; nothing else calls them.

extension Database.Collection where Element: Identifiable, Element.ID: Encodable & Sendable {
    /// An id of another type than the values have: the compiler rejects the call as ambiguous.
    @_disfavoredOverload
    public func get<OtherID: CommonDocumentID & Hashable>(_ id: OtherID) throws -> Element? {
        try get(id.bsonID)
    }

    /// An id of another type than the values have: the compiler rejects the call as ambiguous.
    @_disfavoredOverload
    public func get<OtherID: CommonDocumentID & Hashable>(ids: [OtherID]) throws -> [Element] {
        try get(ids: ids.map(\.bsonID))
    }

    /// An id of another type than the values have: the compiler rejects the call as ambiguous.
    @_disfavoredOverload
    @discardableResult
    public func remove<OtherID: CommonDocumentID & Hashable>(id: OtherID) throws -> Bool {
        try remove(id: id.bsonID)
    }

    /// An id of another type than the values have: the compiler rejects the call as ambiguous.
    @_disfavoredOverload
    @discardableResult
    public func update<OtherID: CommonDocumentID & Hashable>(
        id: OtherID, _ body: (inout Element) throws -> Void
    ) throws -> Element? {
        try update(id: id.bsonID, body)
    }
}

extension Database.Collection where Element: Identifiable, Element.ID: Encodable & Sendable {
    /// An id of another type than the values have: the compiler rejects the call as ambiguous.
    @_disfavoredOverload
    public func get<OtherID: CommonDocumentID & Hashable>(
        _ id: OtherID, isolation: isolated (any Actor)? = #isolation
    ) async throws -> Element? {
        try await get(id.bsonID)
    }

    /// An id of another type than the values have: the compiler rejects the call as ambiguous.
    @_disfavoredOverload
    public func get<OtherID: CommonDocumentID & Hashable>(
        ids: [OtherID], isolation: isolated (any Actor)? = #isolation
    ) async throws -> [Element] {
        try await get(ids: ids.map(\.bsonID))
    }

    /// An id of another type than the values have: the compiler rejects the call as ambiguous.
    @_disfavoredOverload
    @discardableResult
    public func remove<OtherID: CommonDocumentID & Hashable>(id: OtherID) async throws -> Bool {
        try await remove(id: id.bsonID)
    }

    /// An id of another type than the values have: the compiler rejects the call as ambiguous.
    @_disfavoredOverload
    @discardableResult
    public func update<OtherID: CommonDocumentID & Hashable>(
        id: OtherID, _ body: @escaping @Sendable (inout Element) throws -> Void
    ) async throws -> Element? {
        try await update(id: id.bsonID, body)
    }
}

extension Database.Collection where Element: Identifiable, Element.ID: Encodable & Sendable {
    /// An id of another type than the values have: the compiler rejects the call as ambiguous.
    @_disfavoredOverload
    public func get<OtherID: CommonDocumentID & CustomStringConvertible>(_ id: OtherID) throws -> Element? {
        try get(id.bsonID)
    }

    /// An id of another type than the values have: the compiler rejects the call as ambiguous.
    @_disfavoredOverload
    public func get<OtherID: CommonDocumentID & CustomStringConvertible>(ids: [OtherID]) throws -> [Element] {
        try get(ids: ids.map(\.bsonID))
    }

    /// An id of another type than the values have: the compiler rejects the call as ambiguous.
    @_disfavoredOverload
    @discardableResult
    public func remove<OtherID: CommonDocumentID & CustomStringConvertible>(id: OtherID) throws -> Bool {
        try remove(id: id.bsonID)
    }

    /// An id of another type than the values have: the compiler rejects the call as ambiguous.
    @_disfavoredOverload
    @discardableResult
    public func update<OtherID: CommonDocumentID & CustomStringConvertible>(
        id: OtherID, _ body: (inout Element) throws -> Void
    ) throws -> Element? {
        try update(id: id.bsonID, body)
    }
}

extension Database.Collection where Element: Identifiable, Element.ID: Encodable & Sendable {
    /// An id of another type than the values have: the compiler rejects the call as ambiguous.
    @_disfavoredOverload
    public func get<OtherID: CommonDocumentID & CustomStringConvertible>(
        _ id: OtherID, isolation: isolated (any Actor)? = #isolation
    ) async throws -> Element? {
        try await get(id.bsonID)
    }

    /// An id of another type than the values have: the compiler rejects the call as ambiguous.
    @_disfavoredOverload
    public func get<OtherID: CommonDocumentID & CustomStringConvertible>(
        ids: [OtherID], isolation: isolated (any Actor)? = #isolation
    ) async throws -> [Element] {
        try await get(ids: ids.map(\.bsonID))
    }

    /// An id of another type than the values have: the compiler rejects the call as ambiguous.
    @_disfavoredOverload
    @discardableResult
    public func remove<OtherID: CommonDocumentID & CustomStringConvertible>(id: OtherID) async throws -> Bool {
        try await remove(id: id.bsonID)
    }

    /// An id of another type than the values have: the compiler rejects the call as ambiguous.
    @_disfavoredOverload
    @discardableResult
    public func update<OtherID: CommonDocumentID & CustomStringConvertible>(
        id: OtherID, _ body: @escaping @Sendable (inout Element) throws -> Void
    ) async throws -> Element? {
        try await update(id: id.bsonID, body)
    }
}
