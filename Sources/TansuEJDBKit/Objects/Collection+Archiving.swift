public import Tansu

extension Database.Collection where Element == any BSONArchiving {
    /// Removes an object.
    ///
    /// - Parameter object: The object; its id is what counts.
    /// - Returns: Whether it existed.
    /// - Throws: `TansuError` with `.invalidID` (it has no id), and as `remove(id:)`; what the object throws.
    @discardableResult
    public func remove(_ object: any BSONArchiving) throws -> Bool {
        try remove(id: storedID(of: object))
    }

    /// Removes an object.
    ///
    /// - Parameter object: The object; its id is what counts.
    /// - Returns: Whether it existed.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func remove(_ object: any BSONArchiving) async throws -> Bool {
        try await remove(id: storedID(of: object))
    }
}

extension Database.Collection where Element: BSONArchiving {
    /// Removes an object.
    ///
    /// - Parameter object: The object; its id is what counts.
    /// - Returns: Whether it existed.
    /// - Throws: `TansuError` with `.invalidID` (it has no id), and as `remove(id:)`; what the object throws.
    @discardableResult
    public func remove(_ object: Element) throws -> Bool {
        try remove(id: storedID(of: object))
    }

    /// Removes an object.
    ///
    /// - Parameter object: The object; its id is what counts.
    /// - Returns: Whether it existed.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func remove(_ object: Element) async throws -> Bool {
        try await remove(id: storedID(of: object))
    }

    /// Updates an object from its stored document.
    ///
    /// - Parameter object: The object; its id says which document.
    /// - Returns: Whether the document exists; if not, the object is not changed.
    /// - Throws: `TansuError` with `.invalidID` (it has no id); what the object throws.
    @discardableResult
    public func refresh(_ object: Element) throws -> Bool where Element: BSONUpdating {
        let id = try storedID(of: object)
        guard let document = try decoded(as: BSONDocument.self).get(id) else { return false }
        let types = codec.context as? BSONTypeRegistry ?? session.database.types
        try object.update(from: types.fields(of: document, for: Swift.type(of: object)))
        return true
    }
}

extension Database.Collection {
    /// The `_id` that a document or object has.
    func storedID(of object: Element) throws -> BSONValue {
        guard let id = try codec.document(of: object)["_id"] else {
            throw TansuError(
                .invalidID, "The object has no id; save it first", context: name)
        }
        return id
    }
}
