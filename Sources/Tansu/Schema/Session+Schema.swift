extension Database {
    /// The collection in which schemas are kept: `_id` is the name of the collection that one is for.
    static let schemaCollection = "tansu.schemas"
}

extension Session {
    /// Runs `body`, which writes to a collection, with the schema that the collection has at that moment.
    ///
    /// With a schema `body` runs in a transaction, and what it did is taken back when it throws.
    func checking<Result>(
        _ collection: String, _ body: (Session, DocumentSchema?) throws -> Result
    ) throws -> Result {
        try collection.refuseSchemas()
        let watch = database.schemas
        if let transaction {
            guard !watch.knowsOfNone(for: collection), let schema = try schema(of: collection) else {
                return try body(self, nil)
            }
            return try transaction.savepoint { try body(self, schema) }
        }
        if try watch.enterUnchecked(collection, { try schemaNames() }) {
            defer { watch.leave() }
            return try body(self, nil)
        }
        return try database.write(durability: nil, stoppedBy: nil) { transaction in
            try body(transaction.session, transaction.session.schema(of: collection))
        }
    }

    /// The schema that a collection has.
    func schema(of collection: String) throws -> DocumentSchema? {
        try reading.document(.string(collection), in: Database.schemaCollection)
            .map { try database.schemas.schema(in: $0, of: collection) }
    }

    private func schemaNames() throws -> Set<String> {
        var names: Set<String> = []
        try reading.forEach(hints: ["$fields": ["_id": 1]], in: Database.schemaCollection) { document in
            if let name = document["_id"]?.stringValue { names.insert(name) }
        }
        return names
    }

    /// Sets the schema of a collection, or takes it away; in a transaction, inside `setting`.
    func setSchema(_ schema: DocumentSchema?, for collection: String) throws {
        try collection.checkName()
        try collection.refuseSchemas()
        guard let schema else {
            _ = try reading.remove(id: .string(collection), from: Database.schemaCollection)
            return
        }
        try ensureCollection(collection)
        try reading.forEach(in: collection) { document in
            if let violation = try schema.violations(in: document, limit: 1).first {
                throw TansuError(
                    .invalidDocument,
                    "the document with _id \(document["_id"] ?? .null) is not what the schema asks for: \(violation)",
                    context: "\(violation.path): \(violation.rule)")
            }
        }
        try store(schema, for: collection)
    }

    private func store(_ schema: DocumentSchema, for collection: String) throws {
        let stored: BSONDocument = ["_id": .string(collection), "schema": .document(schema.document)]
        _ = try stored.withUnsafeBytes {
            try reading.save($0, sizes: [$0.count], .save, in: Database.schemaCollection)
        }
    }

    /// Runs `body`, a change of a collection that its schema has to follow.
    func changing<Result>(_ collection: String, _ body: (Session) throws -> Result) throws -> Result {
        if transaction != nil { return try body(self) }
        if try database.schemas.enterUnchecked(collection, { try schemaNames() }) {
            defer { database.schemas.leave() }
            return try body(self)
        }
        return try database.write(durability: nil, stoppedBy: nil) { try body($0.session) }
    }

    /// Lets a collection's schema follow it to another name, or go with it.
    func moveSchema(of collection: String, to name: String?) throws {
        let watch = database.schemas
        guard let transaction, !watch.knowsOfNone(for: collection), let schema = try schema(of: collection) else {
            return
        }
        _ = try reading.remove(id: .string(collection), from: Database.schemaCollection)
        guard let name else { return }
        // What others know of the names holds until the end of this transaction only.
        watch.beginSetting()
        transaction.atEnd { watch.endSetting() }
        try store(schema, for: name)
    }
}

extension String {
    /// Throws `.misuse` when the collection of this name is that of the schemas.
    func refuseSchemas() throws {
        if self == Database.schemaCollection {
            throw TansuError(
                .misuse, "schemas are set and taken away with setSchema only, so that no write misses it", context: self
            )
        }
    }
}
