extension Database.Transaction {
    /// The collection with a name, of documents, in this transaction.
    ///
    /// - Parameter name: 1 to 120 bytes.
    /// - Throws: ``TansuError`` with `.invalidName`.
    public func collection(_ name: String) throws -> Database.Collection<BSONDocument> {
        try session.collection(name, .documents)
    }

    /// The collection with a name, of values of a Codable type, in this transaction.
    ///
    /// - Parameters:
    ///   - name: 1 to 120 bytes.
    ///   - type: What its documents are decoded as.
    ///   - coding: How dates and other values are stored; see ``Database/Collection/coding(_:)``.
    /// - Throws: ``TansuError`` with `.invalidName`.
    public func collection<Element: Codable & Sendable>(
        _ name: String, of type: Element.Type, coding: BSONCodingStrategies = BSONCodingStrategies()
    ) throws -> Database.Collection<Element> {
        try session.collection(name, .codable(coding))
    }

    /// The names of the collections, sorted.
    ///
    /// - Throws: ``TansuError`` with `.invalidState` after the transaction's end.
    public func collectionNames() throws -> [String] {
        try collections().map(\.name)
    }

    /// Name and number of documents of each collection, sorted by name.
    ///
    /// - Throws: ``TansuError`` with `.invalidState` after the transaction's end.
    public func collections() throws -> [Database.CollectionInfo] {
        try session.collections()
    }

    /// Creates a collection unless it exists, and sets how its documents are compressed.
    ///
    /// - Parameters:
    ///   - name: 1 to 120 bytes.
    ///   - compression: Also of a collection that exists; with `nil` nothing is changed.
    /// - Throws: ``TansuError`` with `.invalidName`, `.readOnly`, `.unsupported` without LZ4, or `.invalidState`, also when
    ///   the compression of a collection that exists is changed in a savepoint.
    public func ensureCollection(_ name: String, compression: Database.CollectionCompression? = nil) throws {
        try session.ensureCollection(name, compression: compression)
    }

    /// Renames a collection.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - newName: Its new name.
    /// - Throws: ``TansuError`` with `.notFound`, `.exists`, `.invalidName`, `.readOnly` or `.invalidState`.
    public func renameCollection(_ name: String, to newName: String) throws {
        try session.renameCollection(name, to: newName)
    }

    /// Drops a collection with its documents and indexes.
    ///
    /// - Parameter name: Its name.
    /// - Returns: Whether it existed.
    /// - Throws: ``TansuError`` with `.readOnly` or `.invalidState`.
    @discardableResult
    public func dropCollection(_ name: String) throws -> Bool {
        try session.dropCollection(name)
    }

    /// The name of `dropCollection(_:)` in EJDBKit.
    ///
    /// - Parameter name: Its name.
    /// - Returns: Whether it existed.
    /// - Throws: As `dropCollection(_:)`.
    @discardableResult
    public func removeCollection(_ name: String) throws -> Bool {
        try dropCollection(name)
    }
}
