/// A schema for the documents of a collection: JSON Schema 2020-12, and the keywords of MongoDB's `$jsonSchema`.
///
/// For example:
///
/// ```swift
/// try db.setSchema(
///     [
///         "required": ["name", "age"],
///         "properties": [
///             "name": ["type": "string", "minLength": 1],
///             "age": ["bsonType": "int", "minimum": 0],
///             "tags": ["items": ["type": "string"], "uniqueItems": true],
///         ],
///     ],
///     for: "people")
/// ```
///
/// The keywords are `type`, `bsonType`, `enum`; of objects `required`, `properties`, `additionalProperties`,
/// `minProperties`, `maxProperties`; of numbers `minimum`, `maximum`, `exclusiveMinimum`, `exclusiveMaximum`; of
/// strings `minLength`, `maxLength`, `pattern`; of arrays `items`, `minItems`, `maxItems`, `uniqueItems`; and `allOf`,
/// `anyOf`, `oneOf`, `not`, `title`, `description`. Any other is an error. A keyword for one type of values does not
/// constrain others.
public struct DocumentSchema: Sendable {
    /// The schema as it was given, without `$jsonSchema` around it.
    public let document: BSONDocument

    private let engine: EngineSchema

    /// Reads a schema.
    ///
    /// - Parameter document: The schema, or `["$jsonSchema": schema]`.
    /// - Throws: ``TansuError`` with `.invalidQuery`; the context names the keyword by its path.
    public init(_ document: BSONDocument) throws {
        self.document = document.count == 1 ? document["$jsonSchema"]?.documentValue ?? document : document
        engine = try EngineSchema(self.document)
    }

    /// The violations of a document, in the order of the schema's keywords; empty when it is valid.
    ///
    /// - Parameters:
    ///   - document: The document.
    ///   - limit: The maximum number of violations to return.
    /// - Throws: ``TansuError`` with `.invalidQuery` when a pattern needs more steps than one match may take.
    public func violations(in document: BSONDocument, limit: Int = .max) throws -> [Violation] {
        limit < 1 ? [] : try engine.violations(of: document, limit: limit)
    }

    /// Throws the first violation, as a save of the document to a collection with this schema does.
    package func validate(_ document: BSONDocument, of collection: String) throws {
        guard let violation = try violations(in: document, limit: 1).first else { return }
        throw TansuError(
            .invalidDocument, "The document violates the schema of collection \"\(collection)\": \(violation)",
            context: "\(violation.path): \(violation.rule)")
    }
}

extension DocumentSchema: Hashable {
    /// Whether two schemas are the same document.
    public static func == (a: DocumentSchema, b: DocumentSchema) -> Bool { a.document == b.document }

    /// Feeds the document to the hasher.
    public func hash(into hasher: inout Hasher) { hasher.combine(document) }
}

extension DocumentSchema {
    /// A violation of a schema by a document.
    public struct Violation: Sendable, Hashable, CustomStringConvertible {
        /// The dotted path of the value; empty for the whole document.
        public let path: String

        /// The keyword of the schema, such as `minimum`.
        public let rule: String

        /// What is wrong, in words.
        public let message: String

        /// The path, the rule and the message.
        public var description: String { "\(path): \(rule): \(message)" }
    }
}

// MARK: - Database: schema

extension Database {
    /// Sets the schema of a collection, which existing documents must satisfy.
    ///
    /// From now on the engine validates every document that is saved, whichever way it comes: by this library, by
    /// `executeJSON(_:)`, by the C API, by an import or by replication. A write that violates the schema throws
    /// `.invalidDocument` and changes nothing; the context of the error is the path and the rule, such as
    /// `pet.age: minimum`. The schema is renamed, copied and dropped with its collection.
    ///
    /// - Parameters:
    ///   - schema: The schema; `nil` or an empty one removes it.
    ///   - collection: The collection's name; it is created if need be.
    /// - Throws: ``TansuError`` with `.invalidDocument` (an existing document violates it), `.invalidName`, or
    ///   what a commit can throw.
    public func setSchema(_ schema: DocumentSchema?, for collection: String) throws {
        try Session(self).setSchema(schema, for: collection)
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
    ///   - schema: The schema; `nil` or an empty one removes it.
    ///   - collection: The collection's name; it is created if need be.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func setSchema(_ schema: DocumentSchema?, for collection: String) async throws {
        try await Session(self).runCancellable(.write) { try $0.setSchema(schema, for: collection) }
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
}

// MARK: - Transaction: schema

extension Database.Transaction {
    /// Sets the schema of a collection, as `setSchema(_:for:)` of the database. It holds from here on in the transaction.
    ///
    /// - Parameters:
    ///   - schema: The schema; `nil` or an empty one removes it.
    ///   - collection: The collection's name; it is created if need be.
    /// - Throws: ``TansuError`` with `.invalidDocument` (an existing document violates it), `.invalidName`, `.readOnly`,
    ///   `.invalidState` (also for a collection that exists, in a savepoint).
    public func setSchema(_ schema: DocumentSchema?, for collection: String) throws {
        try session.setSchema(schema, for: collection)
    }

    /// Sets or removes the schema of a collection.
    ///
    /// - Parameters:
    ///   - schema: The schema; `nil` or an empty one removes it.
    ///   - collection: The collection's name; it is created if need be.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func setSchema(_ schema: DocumentSchema?, for collection: String) async throws {
        try await session.run(.write) { _ in try self.setSchema(schema, for: collection) }
    }

    /// The schema of a collection, or `nil`.
    ///
    /// - Parameter collection: The collection's name.
    /// - Throws: ``TansuError`` with `.invalidState`.
    public func schema(of collection: String) throws -> DocumentSchema? {
        try session.schema(of: collection)
    }

    /// The schema of a collection, or `nil`.
    ///
    /// - Parameter collection: The collection's name.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func schema(of collection: String) async throws -> DocumentSchema? {
        try await session.run(.read) { _ in try self.schema(of: collection) }
    }
}

// MARK: - Session: schema

extension Session {
    /// The schema of a collection.
    func schema(of collection: String) throws -> DocumentSchema? {
        try collectionInfo(collection)?.schema.map(DocumentSchema.init)
    }

    /// Sets or removes the schema of a collection, which is created for a schema only.
    func setSchema(_ schema: DocumentSchema?, for collection: String) throws {
        try collection.checkName()
        try collection.rejectOwnCollection()
        try checkMayWrite()
        if schema == nil, try collectionInfo(collection) == nil { return }
        try engine.ensureCollection(collection, options: ["validator": .document(schema?.document ?? [:])])
    }
}
