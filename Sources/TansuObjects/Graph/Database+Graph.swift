public import Tansu

extension Database {
    /// Saves values of several types in one commit: inserts each, or replaces the document with the same id, unless that
    /// is the same already.
    ///
    /// ```swift
    /// try db.save(graph: [author, firstBook, secondBook])
    /// ```
    ///
    /// Each reference of a saved value must be to a document that exists after the commit, so that their order does not
    /// matter. Fields that a type does not decode are replaced.
    ///
    /// - Parameter objects: The values, of types of the model.
    /// - Returns: How many documents were saved; those that were the same are not counted.
    /// - Throws: `TansuError` with `.notFound` (a reference leads nowhere; the context names it), `.invalidState` (no model),
    ///   `.invalidArgument` (the model does not have the type of a value), and as `save` of a collection; `EncodingError`.
    ///   Then nothing is saved.
    @discardableResult
    public func save(graph objects: [any Codable & Identifiable & Sendable]) throws -> Int {
        let graph = try ObjectGraph(objects, ModelRegistry.of(self))
        return try write { try graph.save(in: $0) }
    }

    /// Saves values of several types in one commit.
    ///
    /// - Parameter objects: The values, of types of the model.
    /// - Returns: How many documents were saved.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func save(graph objects: [any Codable & Identifiable & Sendable]) async throws -> Int {
        let graph = try ObjectGraph(objects, ModelRegistry.of(self))
        return try await write(isolation: nil) { @Sendable transaction in try graph.save(in: transaction) }
    }
}

extension Database.Transaction {
    /// Saves values of several types; see `save(graph:)` of a database.
    ///
    /// - Parameter objects: The values, of types of the model.
    /// - Returns: How many documents were saved.
    /// - Throws: As outside a transaction; what was saved before an error is rolled back.
    @discardableResult
    public func save(graph objects: [any Codable & Identifiable & Sendable]) throws -> Int {
        let graph = try ObjectGraph(objects, ModelRegistry.of(session.database))
        return try savepoint { try graph.save(in: self) }
    }
}
