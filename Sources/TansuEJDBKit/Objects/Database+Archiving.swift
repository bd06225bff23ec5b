public import Tansu

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
