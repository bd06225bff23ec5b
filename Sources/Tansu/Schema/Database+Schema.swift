extension Database {
    /// Sets the schema of a collection. Existing documents must satisfy it. From now on, in every process that opens
    /// the database, writes that violate it throw `.invalidDocument` and are rolled back; the context of the error is
    /// the path and the rule, such as `pet.age: minimum`.
    ///
    /// The schema is stored in the collection `tansu.schemas`. This library validates writes; writes through the C API
    /// or `executeJSON(_:)` are not validated. The schema is renamed and removed with its collection.
    ///
    /// Inside a transaction a schema can only be set by a migration.
    ///
    /// - Parameters:
    ///   - schema: The schema; `nil` removes it.
    ///   - collection: The collection's name; it is created if need be.
    /// - Throws: ``TansuError`` with `.invalidDocument` (an existing document violates it), `.invalidName`, or
    ///   what a commit can throw.
    public func setSchema(_ schema: DocumentSchema?, for collection: String) throws {
        try setSchema(schema, for: collection, cancelledBy: nil)
    }

    /// Sets the schema of a collection.
    ///
    /// - Parameters:
    ///   - schema: The schema.
    ///   - collection: The collection's name; it is created if need be.
    /// - Throws: As the variant that takes a ``DocumentSchema``, and as its `init`.
    public func setSchema(_ schema: BSONDocument, for collection: String) throws {
        try setSchema(DocumentSchema(schema), for: collection)
    }

    /// Sets or removes the schema of a collection.
    ///
    /// - Parameters:
    ///   - schema: The schema; `nil` removes it.
    ///   - collection: The collection's name; it is created if need be.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func setSchema(_ schema: DocumentSchema?, for collection: String) async throws {
        try await runWriting { flag in try self.setSchema(schema, for: collection, cancelledBy: flag) }
    }

    /// The schema of a collection, or `nil`.
    ///
    /// - Parameter collection: The collection's name.
    /// - Throws: ``TansuError`` with `.closed`.
    public func schema(of collection: String) throws -> DocumentSchema? {
        try Session(self).schema(of: collection)
    }

    /// The schema of a collection, or `nil`.
    ///
    /// - Parameter collection: The collection's name.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func schema(of collection: String) async throws -> DocumentSchema? {
        try await Session(self).run(.read) { _ in try self.schema(of: collection) }
    }

    private func setSchema(
        _ schema: DocumentSchema?, for collection: String, cancelledBy flag: CancellationFlag?
    ) throws {
        try settingSchemas(cancelledBy: flag) {
            try writeInCall(cancelledBy: flag) { try $0.session.setSchema(schema, for: collection) }
        }
    }

    /// Runs `body`, whose transactions may set schemas.
    ///
    /// - Parameter flag: The cancellation of the task that waits, if there is one: it ends the wait for other writers.
    package func settingSchemas<Result>(cancelledBy flag: CancellationFlag?, _ body: () throws -> Result) throws
        -> Result
    {
        // Fails when this thread holds the write lock, for which other writes would wait forever.
        try writeInCall(cancelledBy: flag) { _ in }
        return try schemas.setting(cancelledBy: flag, body)
    }
}
