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

// MARK: - Database: archiving

extension Database {
    /// The types whose objects collections of objects find; see `objects(_:types:)`.
    public var types: BSONTypeRegistry { attachment(BSONTypeRegistry.self) { BSONTypeRegistry() } }

    /// The collection with a name, of objects that convert themselves to documents.
    ///
    /// It may have objects of several types. Those of types that are not registered are returned as ``ArchivedObject``.
    ///
    /// - Parameters:
    ///   - name: 1 to 120 bytes.
    ///   - types: The types; those of `types` when `nil`.
    /// - Throws: `TansuError` with `.invalidName`.
    public func objects(_ name: String, types: BSONTypeRegistry? = nil) throws -> Collection<any BSONArchiving> {
        try Session(self).collection(name, .archiving(types ?? self.types))
    }

    /// The collection with a name, of objects of one type. Finding an object of another type is an error.
    ///
    /// - Parameters:
    ///   - name: 1 to 120 bytes.
    ///   - type: The type; it is registered if need be.
    ///   - types: Where; in `types` when `nil`.
    /// - Throws: `TansuError` with `.invalidName`, or as ``BSONTypeRegistry/register(_:)``.
    public func objects<Element: BSONArchiving>(
        _ name: String, of type: Element.Type, types: BSONTypeRegistry? = nil
    ) throws -> Collection<Element> {
        let types = types ?? self.types
        try types.register(type)
        return try Session(self).collection(name, .archiving(only: type, types))
    }
}

extension Database.Transaction {
    /// The collection with a name, of objects, in this transaction.
    ///
    /// - Parameters:
    ///   - name: 1 to 120 bytes.
    ///   - types: The types; those of the database when `nil`.
    /// - Throws: `TansuError` with `.invalidName`.
    public func objects(
        _ name: String, types: BSONTypeRegistry? = nil
    ) throws -> Database.Collection<any BSONArchiving> {
        try session.collection(name, .archiving(types ?? session.database.types))
    }

    /// The collection with a name, of objects of one type, in this transaction.
    ///
    /// - Parameters:
    ///   - name: 1 to 120 bytes.
    ///   - type: The type; it is registered if need be.
    ///   - types: Where; in the database's when `nil`.
    /// - Throws: `TansuError` with `.invalidName`, or as ``BSONTypeRegistry/register(_:)``.
    public func objects<Element: BSONArchiving>(
        _ name: String, of type: Element.Type, types: BSONTypeRegistry? = nil
    ) throws -> Database.Collection<Element> {
        let types = types ?? session.database.types
        try types.register(type)
        return try session.collection(name, .archiving(only: type, types))
    }
}

// MARK: - DocumentCodec: archiving

extension DocumentCodec where Element == any BSONArchiving {
    /// Objects of all types of a registry.
    static func archiving(_ types: BSONTypeRegistry) -> Self {
        Self(
            encode: { object, body in try types.archive(object).withUnsafeBytes(body) },
            decode: { try types.unarchive(BSONDocument(trustedBytes: Array($0))) },
            context: types
        )
    }
}

extension DocumentCodec where Element: BSONArchiving {
    /// Objects of one type of a registry.
    static func archiving(only type: Element.Type, _ types: BSONTypeRegistry) -> Self {
        Self(
            encode: { object, body in try types.archive(object).withUnsafeBytes(body) },
            decode: { bytes in
                let object = try types.unarchive(BSONDocument(trustedBytes: Array(bytes)))
                guard let element = object as? Element else {
                    let found = (object as? ArchivedObject).map { $0.typeName ?? "no type" }
                    throw TansuError(
                        .invalidDocument,
                        "The document is of type \"\(found ?? Swift.type(of: object).archivedTypeName)\"; find it with"
                            + " objects(_:), or query for documents with this type name only",
                        context: type.archivedTypeName)
                }
                return element
            },
            context: types
        )
    }
}
