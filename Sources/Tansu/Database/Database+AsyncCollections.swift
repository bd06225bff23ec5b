// The twins of Database+Collections.swift; what is said there holds here.
extension Database {
    /// The names of the collections, in their order.
    ///
    /// - Throws: ``TansuError`` with `.closed`, or `CancellationError`.
    public func collectionNames() async throws -> [String] {
        try await collections().map(\.name)
    }

    /// What there is to tell of each collection, by name.
    ///
    /// - Throws: ``TansuError`` with `.closed`, or `CancellationError`.
    public func collections() async throws -> [CollectionInfo] {
        try await Session(self).suspend(.read) { _ in try self.collections() }
    }

    /// Creates a collection unless it is there.
    ///
    /// - Parameter name: 1 to 120 bytes.
    /// - Throws: ``TansuError`` with `.invalidName`, what a commit can throw, or `CancellationError`.
    public func ensureCollection(_ name: String) async throws {
        try await Session(self).suspend(.write) { _ in try self.ensureCollection(name) }
    }

    /// Gives a collection another name.
    ///
    /// - Parameters:
    ///   - name: What it is called.
    ///   - newName: What it shall be called.
    /// - Throws: ``TansuError`` with `.notFound`, `.exists`, `.invalidName`, what a commit can throw, or
    ///   `CancellationError`.
    public func renameCollection(_ name: String, to newName: String) async throws {
        try await Session(self).suspend(.write) { _ in try self.renameCollection(name, to: newName) }
    }

    /// Removes a collection, its documents and its indexes.
    ///
    /// - Parameter name: What it is called.
    /// - Returns: Whether it was there.
    /// - Throws: ``TansuError`` with what a commit can throw, or `CancellationError`.
    @discardableResult
    public func removeCollection(_ name: String) async throws -> Bool {
        try await Session(self).suspend(.write) { _ in try self.removeCollection(name) }
    }
}
