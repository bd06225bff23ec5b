extension Database {
    /// The collection with a name, of documents. It need not exist: the first write creates it.
    ///
    /// - Parameter name: 1 to 120 bytes.
    /// - Throws: ``TansuError`` with `.invalidName`. The first write checks most rules of names.
    public func collection(_ name: String) throws -> Collection<BSONDocument> {
        try Session(self).collection(name, .documents)
    }

    /// The collection with a name, of values of a Codable type. It need not exist: the first write creates it.
    ///
    /// A property `id` is stored as `_id`.
    ///
    /// - Parameters:
    ///   - name: 1 to 120 bytes.
    ///   - type: What its documents are decoded as.
    ///   - coding: How dates and other values are stored, for databases that other programs write; see
    ///     ``Collection/coding(_:)``.
    /// - Throws: ``TansuError`` with `.invalidName`. The first write checks most rules of names.
    public func collection<Element: Codable & Sendable>(
        _ name: String, of type: Element.Type, coding: BSONCodingStrategies = BSONCodingStrategies()
    ) throws -> Collection<Element> {
        try Session(self).collection(name, .codable(coding))
    }

    /// The names of the collections, sorted.
    ///
    /// - Throws: ``TansuError`` with `.closed`.
    public func collectionNames() throws -> [String] {
        try Session(self).collectionNames()
    }

    /// Name and number of documents of each collection, sorted by name.
    ///
    /// - Throws: ``TansuError`` with `.closed`.
    public func collections() throws -> [CollectionInfo] {
        try Session(self).collections()
    }

    /// Creates a collection unless it exists, and sets how its documents are compressed.
    ///
    /// - Parameters:
    ///   - name: 1 to 120 bytes.
    ///   - compression: Also of a collection that exists; with `nil` nothing is changed.
    /// - Throws: ``TansuError`` with `.invalidName`, `.unsupported` without LZ4, or what a commit can throw.
    public func ensureCollection(_ name: String, compression: CollectionCompression? = nil) throws {
        try Session(self).ensureCollection(name, compression: compression)
    }

    /// Renames a collection.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - newName: Its new name.
    /// - Throws: ``TansuError`` with `.notFound`, `.exists`, `.invalidName`, or what a commit can throw.
    public func renameCollection(_ name: String, to newName: String) throws {
        try Session(self).renameCollection(name, to: newName)
    }

    /// Drops a collection with its documents and indexes.
    ///
    /// - Parameter name: Its name.
    /// - Returns: Whether it existed.
    /// - Throws: ``TansuError`` with what a commit can throw.
    @discardableResult
    public func dropCollection(_ name: String) throws -> Bool {
        try Session(self).dropCollection(name)
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
