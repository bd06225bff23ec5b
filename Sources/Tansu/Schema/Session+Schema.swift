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
