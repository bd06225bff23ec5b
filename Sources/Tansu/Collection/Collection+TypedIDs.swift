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
