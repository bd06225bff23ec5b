/// A schema for the documents of a collection: the common part of JSON Schema, as MongoDB's `$jsonSchema`.
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

    let root: SchemaNode

    /// Reads a schema.
    ///
    /// - Parameter document: The schema, or `["$jsonSchema": schema]`.
    /// - Throws: ``TansuError`` with `.invalidQuery`; the context names the keyword by its path.
    public init(_ document: BSONDocument) throws {
        self.document = document.count == 1 ? document["$jsonSchema"]?.documentValue ?? document : document
        root = try SchemaNode(self.document, at: [])
    }

    /// The violations of a document, in the order of the schema's keywords; empty when it is valid.
    ///
    /// - Parameters:
    ///   - document: The document.
    ///   - limit: The maximum number of violations to return.
    /// - Throws: ``TansuError`` with `.invalidQuery` when a pattern needs more steps than one match may take.
    public func violations(in document: BSONDocument, limit: Int = .max) throws -> [Violation] {
        var check = SchemaCheck(limit: limit)
        try check.value(.document(document), root)
        return check.violations
    }

    /// Throws the first violation.
    func validate(_ document: BSONDocument, of collection: String, number: Int? = nil) throws {
        guard let violation = try violations(in: document, limit: 1).first else { return }
        throw TansuError(
            .invalidDocument, "The document violates the schema of collection \"\(collection)\": \(violation)",
            context: "\(violation.path): \(violation.rule)", offset: number.map(Int64.init))
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

/// A compiled schema or sub-schema.
final class SchemaNode: Sendable {
    /// One keyword with its operand.
    enum Rule: Sendable {
        case types([String], keyword: String)
        case values(EngineMatcher, list: BSONArray)
        case required([String])
        case properties([BytewiseText: SchemaNode], others: Others)
        case size(ClosedRange<Int>, of: Sized, keyword: String)
        case number(EngineMatcher, keyword: String, bound: BSONValue)
        case pattern(EngineMatcher, text: String)
        case items(SchemaNode)
        case itemsByPosition([SchemaNode])
        case uniqueItems
        case all([SchemaNode])
        case any([SchemaNode])
        case one([SchemaNode])
        case not(SchemaNode)
    }

    /// Properties that are not named.
    enum Others: Sendable {
        case allowed
        case rejected
        case checked(SchemaNode)
    }

    /// The type of values whose size is constrained.
    enum Sized: Sendable {
        case string
        case array
        case object
    }

    let rules: [Rule]

    /// Compiles the schema at a path of the whole schema.
    init(_ document: BSONDocument, at path: [String]) throws {
        var rules: [Rule] = []
        for (keyword, value) in document {
            let reader = SchemaReader(document: document, keyword: keyword, value: value, path: path + [keyword])
            if let rule = try reader.rule() { rules.append(rule) }
        }
        self.rules = rules
    }
}

// MARK: - Database: schema

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

// MARK: - Session: schema

extension Database {
    /// The collection of schemas: `_id` is the name of the collection that a schema is for.
    static let schemaCollection = "tansu.schemas"

    /// The collection of applied migration steps: `_id` is the name of a step.
    static let migrationCollection = "tansu.migrations"
}

extension Session {
    /// Runs `body`, which writes to a collection, with the current schema of the collection.
    ///
    /// With a schema `body` runs in a transaction or savepoint, which is rolled back when it throws.
    func validating<Result>(
        _ collection: String, _ body: (Session, DocumentSchema?) throws -> Result
    ) throws -> Result {
        try collection.rejectOwnCollection()
        let gate = database.schemas
        if let transaction {
            guard try !gate.needsNoValidation(collection, { try Session(database).schemaNames() }),
                let schema = try schema(of: collection)
            else {
                return try body(self, nil)
            }
            return try transaction.savepoint { try body(self, schema) }
        }
        try checkMayWrite()
        if try gate.enterUnvalidated(collection, { try schemaNames() }) {
            defer { gate.leave() }
            return try body(self, nil)
        }
        return try database.writeInCall { transaction in
            try body(transaction.session, transaction.session.schema(of: collection))
        }
    }

    /// The schema of a collection.
    package func schema(of collection: String) throws -> DocumentSchema? {
        try engine.document(.string(collection), in: Database.schemaCollection)
            .map { stored in
                guard let document = stored["schema"]?.documentValue else {
                    throw TansuError(
                        .corrupt,
                        "The stored schema of collection \"\(collection)\" is invalid; set it again with"
                            + " setSchema(_:for:)",
                        context: collection)
                }
                return try database.schemas.parsed(
                    for: collection, isCurrent: { (known: DocumentSchema) in known.document == document },
                    parse: { try DocumentSchema(document) })
            }
    }

    private func schemaNames() throws -> Set<BytewiseText> {
        var names: Set<BytewiseText> = []
        try engine.forEach(hints: ["$fields": ["_id": 1]], in: Database.schemaCollection) { document in
            if let name = document["_id"]?.stringValue { names.insert(BytewiseText(name)) }
        }
        return names
    }

    /// Sets or removes the schema of a collection; in a transaction, inside `SchemaGate.setting`.
    package func setSchema(_ schema: DocumentSchema?, for collection: String) throws {
        try collection.checkName()
        try collection.rejectOwnCollection()
        guard let schema else {
            _ = try engine.remove(id: .string(collection), from: Database.schemaCollection)
            return
        }
        try engine.ensureCollection(collection, options: [:])
        try engine.forEach(in: collection) { document in
            if let violation = try schema.violations(in: document, limit: 1).first {
                throw TansuError(
                    .invalidDocument,
                    "The document with _id \(document["_id"] ?? .null) violates the schema: \(violation); fix it first",
                    context: "\(violation.path): \(violation.rule)")
            }
        }
        try store(schema, for: collection)
    }

    private func store(_ schema: DocumentSchema, for collection: String) throws {
        let stored: BSONDocument = ["_id": .string(collection), "schema": .document(schema.document)]
        _ = try stored.withUnsafeBytes {
            try engine.save($0, .save, in: Database.schemaCollection)
        }
    }

    /// Runs `body`, which renames or drops a collection, and its schema with it.
    func changing<Result>(_ collection: String, _ body: (Session) throws -> Result) throws -> Result {
        if transaction != nil { return try body(self) }
        if try database.schemas.enterUnvalidated(collection, { try schemaNames() }) {
            defer { database.schemas.leave() }
            return try body(self)
        }
        return try database.writeInCall { try body($0.session) }
    }

    /// Renames or removes the schema of a collection that was renamed or dropped.
    func moveSchema(of collection: String, to name: String?) throws {
        let gate = database.schemas
        guard let transaction, try !gate.needsNoValidation(collection, { try Session(database).schemaNames() }),
            let schema = try schema(of: collection)
        else { return }
        _ = try engine.remove(id: .string(collection), from: Database.schemaCollection)
        guard let name else { return }
        // The cached names are valid until the end of this transaction only.
        gate.beginSetting()
        transaction.atEnd { gate.endSetting() }
        try store(schema, for: name)
    }
}

extension String {
    /// Throws `.invalidArgument` for a collection in which the library keeps its own state, and which other calls change.
    func rejectOwnCollection() throws {
        let remedy: String
        switch self {
        case Database.schemaCollection: remedy = "set and remove schemas with setSchema(_:for:)"
        case Database.migrationCollection: remedy = "the library records in it which steps migrate(_:) has done"
        default: return
        }
        throw TansuError(
            .invalidArgument, "The collection \"\(self)\" cannot be written to; \(remedy)", context: self)
    }
}
