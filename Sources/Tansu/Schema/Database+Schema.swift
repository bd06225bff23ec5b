extension Database {
    /// Sets what the documents of a collection must look like, from now on and in every process that opens the
    /// database; the documents that are there must already. Writes that violate it throw `.invalidDocument`, whose
    /// context is the path and the rule, such as `pet.age: minimum`, and keep nothing.
    ///
    /// The schema is stored in the collection `tansu.schemas`. It is checked by this library: what writes through the C
    /// API or `executeJSON(_:)` is not held against it. It goes with its collection when that is renamed or removed.
    ///
    /// Inside a transaction a schema cannot be set, but by a migration.
    ///
    /// - Parameters:
    ///   - schema: The schema; `nil` takes it away.
    ///   - collection: The collection's name; it is created if need be.
    /// - Throws: ``TansuError`` with `.invalidDocument` (a document that is there is not like that), `.invalidName`, or
    ///   what a commit can throw.
    public func setSchema(_ schema: DocumentSchema?, for collection: String) throws {
        try setSchema(schema, for: collection, stoppedBy: nil)
    }

    /// Sets what the documents of a collection must look like.
    ///
    /// - Parameters:
    ///   - schema: The schema.
    ///   - collection: The collection's name; it is created if need be.
    /// - Throws: As the form that takes a ``DocumentSchema``, and as its `init`.
    public func setSchema(_ schema: BSONDocument, for collection: String) throws {
        try setSchema(DocumentSchema(schema), for: collection)
    }

    /// Sets what the documents of a collection must look like, or nothing.
    ///
    /// - Parameters:
    ///   - schema: The schema; `nil` takes it away.
    ///   - collection: The collection's name; it is created if need be.
    /// - Throws: As the form that is not async, and `CancellationError`.
    public func setSchema(_ schema: DocumentSchema?, for collection: String) async throws {
        try refuseInsideOwnWrite()
        try await writers.run { flag in try self.setSchema(schema, for: collection, stoppedBy: flag) }
    }

    /// What the documents of a collection must look like, or `nil`.
    ///
    /// - Parameter collection: The collection's name.
    /// - Throws: ``TansuError`` with `.closed`.
    public func schema(of collection: String) throws -> DocumentSchema? {
        try Session(self).schema(of: collection)
    }

    /// What the documents of a collection must look like, or `nil`.
    ///
    /// - Parameter collection: The collection's name.
    /// - Throws: As the form that is not async, and `CancellationError`.
    public func schema(of collection: String) async throws -> DocumentSchema? {
        try await Session(self).suspend(.read) { _ in try self.schema(of: collection) }
    }

    private func setSchema(
        _ schema: DocumentSchema?, for collection: String, stoppedBy flag: CancellationFlag?
    ) throws {
        try settingSchemas {
            try write(durability: nil, stoppedBy: flag) { try $0.session.setSchema(schema, for: collection) }
        }
    }

    /// Runs `body`, whose transactions may set schemas.
    func settingSchemas<Result>(_ body: () throws -> Result) throws -> Result {
        // Writes that wait for a transaction of this very thread would be waited for in vain.
        try write(durability: nil, stoppedBy: nil) { _ in }
        return try schemas.setting(body)
    }
}
