extension Database.Transaction {
    /// The collection of that name, of documents as they are, seen and changed in this transaction.
    ///
    /// - Parameter name: 1 to 120 bytes.
    /// - Throws: ``TansuError`` with `.invalidName`.
    public func collection(_ name: String) throws -> Database.Collection<BSONDocument> {
        try session.collection(name, .documents)
    }

    /// The collection of that name, of values of a Codable type, seen and changed in this transaction.
    ///
    /// - Parameters:
    ///   - name: 1 to 120 bytes.
    ///   - type: What its documents are decoded as.
    /// - Throws: ``TansuError`` with `.invalidName`.
    public func collection<Element: Codable & Sendable>(
        _ name: String, of type: Element.Type
    ) throws -> Database.Collection<Element> {
        try session.collection(name, .codable())
    }

    /// The names of the collections, in their order.
    ///
    /// - Throws: ``TansuError`` with `.misuse` after the transaction's end.
    public func collectionNames() throws -> [String] {
        try collections().map(\.name)
    }

    /// What there is to tell of each collection, by name.
    ///
    /// - Throws: ``TansuError`` with `.misuse` after the transaction's end.
    public func collections() throws -> [Database.CollectionInfo] {
        try session.collections()
    }

    /// Creates a collection unless it is there.
    ///
    /// - Parameter name: 1 to 120 bytes.
    /// - Throws: ``TansuError`` with `.invalidName`, `.readOnly` or `.misuse`.
    public func ensureCollection(_ name: String) throws {
        try session.ensureCollection(name)
    }

    /// Gives a collection another name.
    ///
    /// - Parameters:
    ///   - name: What it is called.
    ///   - newName: What it shall be called.
    /// - Throws: ``TansuError`` with `.notFound`, `.exists`, `.invalidName`, `.readOnly` or `.misuse`.
    public func renameCollection(_ name: String, to newName: String) throws {
        try session.renameCollection(name, to: newName)
    }

    /// Removes a collection, its documents and its indexes.
    ///
    /// - Parameter name: What it is called.
    /// - Returns: Whether it was there.
    /// - Throws: ``TansuError`` with `.readOnly` or `.misuse`.
    @discardableResult
    public func removeCollection(_ name: String) throws -> Bool {
        try session.removeCollection(name)
    }
}
