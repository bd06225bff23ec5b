extension Database {
    /// What becomes of a document that violates the validator of its collection.
    public enum ValidationLevel: String, Sendable, Hashable, Codable, CaseIterable {
        /// It is not saved: the write throws `.invalidDocument`. When the validator or the level is set, all documents must
        /// satisfy it.
        case strict

        /// As `strict`, but a document that violates the validator already may be changed; when it is set, there may be some.
        case moderate

        /// It is saved. ``Database/Options/logger`` gets a warning with the collection, the `_id`, the path and the rule, for the first 100
        /// documents of a call; `validationWarnings` of the statistics counts all.
        case warn

        /// It is saved; nothing is checked.
        case off
    }
}

// MARK: - Database: validators

extension Database {
    /// Sets what the documents of a collection satisfy: a query, or a schema in `$jsonSchema`.
    ///
    /// For example:
    ///
    /// ```swift
    /// try db.setValidator(["age": ["$gte": 0], "$expr": ["$lt": ["$from", "$to"]]], for: "people")
    /// ```
    ///
    /// Every document that is saved is checked, whichever way it comes, as with `setSchema(_:for:level:)`. The error is
    /// `.invalidDocument`; its context is the path and the operator, such as `age: $gte`, or an operator alone, such as `$expr`.
    /// A validator replaces a schema, and is renamed, copied and dropped with its collection.
    ///
    /// - Parameters:
    ///   - validator: A query, `["$jsonSchema": schema]` or a schema; `nil` or an empty one removes it. What may be a schema as
    ///     well as a query, such as `["title": "x"]`, is an error that says how to write it.
    ///   - collection: The collection's name; it is created if need be.
    ///   - level: What becomes of documents that violate it.
    /// - Throws: ``TansuError`` with `.invalidQuery`, `.invalidDocument` (an existing document violates it), `.invalidName`, or
    ///   what a commit can throw.
    public func setValidator(
        _ validator: BSONDocument?, for collection: String, level: ValidationLevel = .strict
    ) throws {
        try Session(self).setValidator(validator, for: collection, level: level)
    }

    /// Sets or removes what the documents of a collection satisfy.
    ///
    /// - Parameters:
    ///   - validator: As for the synchronous variant.
    ///   - collection: The collection's name; it is created if need be.
    ///   - level: What becomes of documents that violate it.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func setValidator(
        _ validator: BSONDocument?, for collection: String, level: ValidationLevel = .strict
    ) async throws {
        try await Session(self).runCancellable(.write) { try $0.setValidator(validator, for: collection, level: level) }
    }

    /// Sets the schema of a collection, which existing documents must satisfy unless the level says otherwise.
    ///
    /// From now on the engine validates every document that is saved, whichever way it comes: by this library, by
    /// `executeJSON(_:)`, by the C API, by an import or by replication. A write that violates the schema throws
    /// `.invalidDocument` and changes nothing; the context of the error is the path and the rule, such as
    /// `pet.age: minimum`. The schema is renamed, copied and dropped with its collection.
    ///
    /// - Parameters:
    ///   - schema: The schema; `nil` or an empty one removes it.
    ///   - collection: The collection's name; it is created if need be.
    ///   - level: What becomes of documents that violate it.
    /// - Throws: ``TansuError`` with `.invalidDocument` (an existing document violates it), `.invalidName`, or
    ///   what a commit can throw.
    public func setSchema(
        _ schema: DocumentSchema?, for collection: String, level: ValidationLevel = .strict
    ) throws {
        try Session(self).setSchema(schema, for: collection, level: level)
    }

    /// Sets the schema of a collection.
    ///
    /// - Parameters:
    ///   - schema: The schema.
    ///   - collection: The collection's name; it is created if need be.
    ///   - level: What becomes of documents that violate it.
    /// - Throws: As the variant that takes a ``DocumentSchema``, and as its `init`.
    public func setSchema(_ schema: BSONDocument, for collection: String, level: ValidationLevel = .strict) throws {
        try setSchema(DocumentSchema(schema), for: collection, level: level)
    }

    /// Sets or removes the schema of a collection.
    ///
    /// - Parameters:
    ///   - schema: The schema; `nil` or an empty one removes it.
    ///   - collection: The collection's name; it is created if need be.
    ///   - level: What becomes of documents that violate it.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func setSchema(
        _ schema: DocumentSchema?, for collection: String, level: ValidationLevel = .strict
    ) async throws {
        try await Session(self).runCancellable(.write) { try $0.setSchema(schema, for: collection, level: level) }
    }

    /// The schema of a collection, or `nil`, also when it has a query as its validator.
    ///
    /// - Parameter collection: The collection's name.
    /// - Throws: ``TansuError`` with `.closed`.
    public func schema(of collection: String) throws -> DocumentSchema? {
        try Session(self).schema(of: collection)
    }

    /// The schema of a collection, or `nil`, also when it has a query as its validator.
    ///
    /// - Parameter collection: The collection's name.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func schema(of collection: String) async throws -> DocumentSchema? {
        try await Session(self).run(.read) { _ in try self.schema(of: collection) }
    }
}

// MARK: - Transaction: validators

extension Database.Transaction {
    /// Sets what the documents of a collection satisfy, as `setValidator(_:for:level:)` of the database. It holds from here on in
    /// the transaction.
    ///
    /// - Parameters:
    ///   - validator: A query, `["$jsonSchema": schema]` or a schema; `nil` or an empty one removes it.
    ///   - collection: The collection's name; it is created if need be.
    ///   - level: What becomes of documents that violate it.
    /// - Throws: ``TansuError`` with `.invalidQuery`, `.invalidDocument` (an existing document violates it), `.invalidName`,
    ///   `.readOnly`, `.invalidState` (also for a collection that exists, in a savepoint).
    public func setValidator(
        _ validator: BSONDocument?, for collection: String, level: Database.ValidationLevel = .strict
    ) throws {
        try session.setValidator(validator, for: collection, level: level)
    }

    /// Sets or removes what the documents of a collection satisfy.
    ///
    /// - Parameters:
    ///   - validator: As for the synchronous variant.
    ///   - collection: The collection's name; it is created if need be.
    ///   - level: What becomes of documents that violate it.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func setValidator(
        _ validator: BSONDocument?, for collection: String, level: Database.ValidationLevel = .strict
    ) async throws {
        try await session.run(.write) { _ in try self.setValidator(validator, for: collection, level: level) }
    }

    /// Sets the schema of a collection, as `setSchema(_:for:level:)` of the database. It holds from here on in the transaction.
    ///
    /// - Parameters:
    ///   - schema: The schema; `nil` or an empty one removes it.
    ///   - collection: The collection's name; it is created if need be.
    ///   - level: What becomes of documents that violate it.
    /// - Throws: ``TansuError`` with `.invalidDocument` (an existing document violates it), `.invalidName`, `.readOnly`,
    ///   `.invalidState` (also for a collection that exists, in a savepoint).
    public func setSchema(
        _ schema: DocumentSchema?, for collection: String, level: Database.ValidationLevel = .strict
    ) throws {
        try session.setSchema(schema, for: collection, level: level)
    }

    /// Sets or removes the schema of a collection.
    ///
    /// - Parameters:
    ///   - schema: The schema; `nil` or an empty one removes it.
    ///   - collection: The collection's name; it is created if need be.
    ///   - level: What becomes of documents that violate it.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func setSchema(
        _ schema: DocumentSchema?, for collection: String, level: Database.ValidationLevel = .strict
    ) async throws {
        try await session.run(.write) { _ in try self.setSchema(schema, for: collection, level: level) }
    }

    /// The schema of a collection, or `nil`, also when it has a query as its validator.
    ///
    /// - Parameter collection: The collection's name.
    /// - Throws: ``TansuError`` with `.invalidState`.
    public func schema(of collection: String) throws -> DocumentSchema? {
        try session.schema(of: collection)
    }

    /// The schema of a collection, or `nil`, also when it has a query as its validator.
    ///
    /// - Parameter collection: The collection's name.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func schema(of collection: String) async throws -> DocumentSchema? {
        try await session.run(.read) { _ in try self.schema(of: collection) }
    }
}

// MARK: - Session: validators

extension Session {
    /// The schema of a collection.
    func schema(of collection: String) throws -> DocumentSchema? {
        try collectionInfo(collection)?.schema.map(DocumentSchema.init)
    }

    /// Sets or removes the schema of a collection. In `$jsonSchema` it cannot be taken for a query.
    func setSchema(
        _ schema: DocumentSchema?, for collection: String, level: Database.ValidationLevel = .strict
    ) throws {
        try setValidator(schema.map { ["$jsonSchema": .document($0.document)] }, for: collection, level: level)
    }

    /// Sets or removes the validator of a collection, which is created for a validator only.
    func setValidator(
        _ validator: BSONDocument?, for collection: String, level: Database.ValidationLevel = .strict
    ) throws {
        try collection.checkName()
        try collection.rejectOwnCollection()
        try checkMayWrite()
        if validator == nil, try collectionInfo(collection) == nil { return }
        try engine.ensureCollection(
            collection,
            options: ["validator": .document(validator ?? [:]), "validationLevel": .string(level.rawValue)])
    }
}
