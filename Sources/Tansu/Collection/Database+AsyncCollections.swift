// The async variants of Database+Collections.swift.
extension Database {
    /// The names of the collections, sorted.
    ///
    /// - Throws: ``TansuError`` with `.closed`, or `CancellationError`.
    public func collectionNames() async throws -> [String] {
        try await collections().map(\.name)
    }

    /// Name and number of documents of each collection, sorted by name.
    ///
    /// - Throws: ``TansuError`` with `.closed`, or `CancellationError`.
    public func collections() async throws -> [CollectionInfo] {
        try await Session(self).run(.read) { _ in try self.collections() }
    }

    /// Creates a collection unless it exists, and sets how its documents are compressed.
    ///
    /// - Parameters:
    ///   - name: 1 to 120 bytes.
    ///   - compression: Also of a collection that exists; with `nil` nothing is changed.
    /// - Throws: ``TansuError`` with `.invalidName`, `.unsupported` without LZ4, what a commit can throw, or
    ///   `CancellationError`.
    public func ensureCollection(_ name: String, compression: CollectionCompression? = nil) async throws {
        try await Session(self).runCancellable(.write) { try $0.ensureCollection(name, compression: compression) }
    }

    /// Renames a collection.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - newName: Its new name.
    /// - Throws: ``TansuError`` with `.notFound`, `.exists`, `.invalidName`, what a commit can throw, or
    ///   `CancellationError`.
    public func renameCollection(_ name: String, to newName: String) async throws {
        try await Session(self).runCancellable(.write) { try $0.renameCollection(name, to: newName) }
    }

    /// Drops a collection with its documents and indexes.
    ///
    /// - Parameter name: Its name.
    /// - Returns: Whether it existed.
    /// - Throws: ``TansuError`` with what a commit can throw, or `CancellationError`.
    @discardableResult
    public func dropCollection(_ name: String) async throws -> Bool {
        try await Session(self).runCancellable(.write) { try $0.dropCollection(name) }
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
