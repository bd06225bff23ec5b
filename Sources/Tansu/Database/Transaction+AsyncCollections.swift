// The twins of Transaction+Collections.swift; what is said there holds here.
extension Database.Transaction {
    /// The names of the collections, in their order.
    ///
    /// - Throws: ``TansuError`` with `.misuse` after the transaction's end, or `CancellationError`.
    public func collectionNames() async throws -> [String] {
        try await collections().map(\.name)
    }

    /// What there is to tell of each collection, by name.
    ///
    /// - Throws: ``TansuError`` with `.misuse` after the transaction's end, or `CancellationError`.
    public func collections() async throws -> [Database.CollectionInfo] {
        try await session.suspend(.read) { _ in try self.collections() }
    }

    /// Creates a collection unless it is there.
    ///
    /// - Parameter name: 1 to 120 bytes.
    /// - Throws: As the form that is not async, and `CancellationError`.
    public func ensureCollection(_ name: String) async throws {
        try await session.suspend(.write) { _ in try self.ensureCollection(name) }
    }

    /// Gives a collection another name.
    ///
    /// - Parameters:
    ///   - name: What it is called.
    ///   - newName: What it shall be called.
    /// - Throws: As the form that is not async, and `CancellationError`.
    public func renameCollection(_ name: String, to newName: String) async throws {
        try await session.suspend(.write) { _ in try self.renameCollection(name, to: newName) }
    }

    /// Removes a collection, its documents and its indexes.
    ///
    /// - Parameter name: What it is called.
    /// - Returns: Whether it was there.
    /// - Throws: As the form that is not async, and `CancellationError`.
    @discardableResult
    public func removeCollection(_ name: String) async throws -> Bool {
        try await session.suspend(.write) { _ in try self.removeCollection(name) }
    }
}
