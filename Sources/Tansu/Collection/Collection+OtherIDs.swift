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
