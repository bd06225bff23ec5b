// The async variants of Transaction+Collections.swift.
extension Database.Transaction {
    /// The names of the collections, sorted.
    ///
    /// - Throws: ``TansuError`` with `.invalidState` after the transaction's end, or `CancellationError`.
    public func collectionNames() async throws -> [String] {
        try await collections().map(\.name)
    }

    /// Name and number of documents of each collection, sorted by name.
    ///
    /// - Throws: ``TansuError`` with `.invalidState` after the transaction's end, or `CancellationError`.
    public func collections() async throws -> [Database.CollectionInfo] {
        try await session.run(.read) { _ in try self.collections() }
    }

    /// Creates a collection unless it exists, and sets how its documents are compressed.
    ///
    /// - Parameters:
    ///   - name: 1 to 120 bytes.
    ///   - compression: Also of a collection that exists; with `nil` nothing is changed.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func ensureCollection(_ name: String, compression: Database.CollectionCompression? = nil) async throws {
        try await session.run(.write) { _ in try self.ensureCollection(name, compression: compression) }
    }

    /// Renames a collection.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - newName: Its new name.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func renameCollection(_ name: String, to newName: String) async throws {
        try await session.run(.write) { _ in try self.renameCollection(name, to: newName) }
    }

    /// Drops a collection with its documents and indexes.
    ///
    /// - Parameter name: Its name.
    /// - Returns: Whether it existed.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func dropCollection(_ name: String) async throws -> Bool {
        try await session.run(.write) { _ in try self.dropCollection(name) }
    }

    /// The name of `dropCollection(_:)` in EJDBKit.
    ///
    /// - Parameter name: Its name.
    /// - Returns: Whether it existed.
    /// - Throws: As `dropCollection(_:)`.
    @discardableResult
    public func removeCollection(_ name: String) async throws -> Bool {
        try await dropCollection(name)
    }
}
