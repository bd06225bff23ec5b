extension Database {
    /// The collection of that name, of documents as they are. It need not be there: the first write makes it.
    ///
    /// - Parameter name: 1 to 120 bytes.
    /// - Throws: ``TansuError`` with `.invalidName`. Most rules of names are checked by the first write.
    public func collection(_ name: String) throws -> Collection<BSONDocument> {
        try Session(self).collection(name, .documents)
    }

    /// The collection of that name, of values of a Codable type. It need not be there: the first write makes it.
    ///
    /// A property `id` is stored as `_id`.
    ///
    /// - Parameters:
    ///   - name: 1 to 120 bytes.
    ///   - type: What its documents are decoded as.
    /// - Throws: ``TansuError`` with `.invalidName`. Most rules of names are checked by the first write.
    public func collection<Element: Codable & Sendable>(
        _ name: String, of type: Element.Type
    ) throws -> Collection<Element> {
        try Session(self).collection(name, .codable())
    }

    /// The names of the collections, in their order.
    ///
    /// - Throws: ``TansuError`` with `.closed`.
    public func collectionNames() throws -> [String] {
        try collections().map(\.name)
    }

    /// What there is to tell of each collection, by name.
    ///
    /// - Throws: ``TansuError`` with `.closed`.
    public func collections() throws -> [CollectionInfo] {
        try Session(self).collections()
    }

    /// Creates a collection unless it is there.
    ///
    /// - Parameter name: 1 to 120 bytes.
    /// - Throws: ``TansuError`` with `.invalidName`, or what a commit can throw.
    public func ensureCollection(_ name: String) throws {
        try Session(self).ensureCollection(name)
    }

    /// Gives a collection another name.
    ///
    /// - Parameters:
    ///   - name: What it is called.
    ///   - newName: What it shall be called.
    /// - Throws: ``TansuError`` with `.notFound`, `.exists`, `.invalidName`, or what a commit can throw.
    public func renameCollection(_ name: String, to newName: String) throws {
        try Session(self).renameCollection(name, to: newName)
    }

    /// Removes a collection, its documents and its indexes.
    ///
    /// - Parameter name: What it is called.
    /// - Returns: Whether it was there.
    /// - Throws: ``TansuError`` with what a commit can throw.
    @discardableResult
    public func removeCollection(_ name: String) throws -> Bool {
        try Session(self).removeCollection(name)
    }
}
