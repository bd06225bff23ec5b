public import Tansu

extension EditingContext {
    /// The value with an id as it is in the context; `nil` when there is none.
    ///
    /// - Parameters:
    ///   - type: Its type.
    ///   - id: Its id.
    /// - Throws: `TansuError` with `.invalidState` (no model), `.invalidArgument` (the model does not have the type),
    ///   `.invalidID` or `.closed`; `DecodingError`; `CancellationError`.
    public func get<Element: Codable & Sendable & Identifiable>(
        _ type: Element.Type, id: Element.ID
    ) async throws -> Element? where Element.ID: Codable & Sendable {
        let entity = try ModelRegistry.of(database).entity(of: type)
        let key = try ObjectKey(entity, id)
        return try await document(key, entity).flatMap { try entity.value($0) as? Element }
    }

    /// The values of a query, as they are in the context: inserted and changed values are found, removed ones are not.
    ///
    /// While there are unsaved changes, the query waits for other writers: it runs on the changes, which it then undoes.
    /// A change that could not be saved now, such as for a unique index, is left out of that.
    ///
    /// - Parameter query: A query on the collection of a type of the model, for whole documents.
    /// - Returns: The values, in the order of the query.
    /// - Throws: `TansuError` with `.invalidQuery` (also for a projection), and as `get`; `DecodingError`.
    public func fetch<Element: Codable & Sendable & Identifiable>(
        _ query: Database.Query<Element>
    ) async throws -> [Element] {
        let entity = try ModelRegistry.of(database).entity(of: Element.self)
        guard query.collection == entity.collection, query.hints["$fields"] == nil, query.hints["$do"] == nil,
            query.filter["$do"] == nil
        else {
            throw TansuError(
                .invalidQuery,
                "A context fetches whole documents of the collection of their type; leave out fields and joins",
                context: query.collection)
        }
        try query.checkOrder()
        let documents = query.decoded(as: BSONDocument.self)
        let found = hasChanges ? try await overlaid(documents, entity) : try await plain(documents, entity)
        return try found.compactMap { key in
            try entries[key]?.current.flatMap { try entity.value($0) as? Element }
        }
    }

    /// Reads what is stored now, for all documents without unsaved changes. Changed ones stay as they are in the context,
    /// and remain conflicts if someone else has changed them.
    ///
    /// - Throws: As `get`.
    public func reload() async throws {
        try await database.read(isolation: self) { transaction in
            try self.refresh(in: transaction)
        }
    }

    /// The document with a key, as it is in the context.
    func document(_ key: ObjectKey, _ entity: AnyEntity) async throws -> BSONDocument? {
        if let entry = entries[key] { return entry.current }
        let stored = try await database.collection(key.collection).get(key.id)
        register(key, entity, stored)
        return entries[key]?.current
    }

    /// Reads the unchanged documents again.
    func refresh(in transaction: Database.Transaction) throws {
        for (key, entry) in entries where !entry.isChanged {
            guard let stored = try transaction.collection(key.collection).get(key.id) else {
                entries[key] = nil
                continue
            }
            entries[key]?.stored = stored
            entries[key]?.current = stored
        }
    }

    /// Notes a document that was read, unless the context knows it.
    private func register(_ key: ObjectKey, _ entity: AnyEntity, _ stored: BSONDocument?) {
        guard entries[key] == nil, let stored else { return }
        entries[key] = Entry(entity: entity, stored: stored, current: stored)
    }

    private func plain(_ query: Database.Query<BSONDocument>, _ entity: AnyEntity) async throws -> [ObjectKey] {
        let documents = try await query.all()
        // A change that was made meanwhile is not in the documents.
        guard !hasChanges else { return try await overlaid(query, entity) }
        return documents.map { document in
            let key = ObjectKey(collection: entity.collection, id: document["_id"] ?? .null)
            register(key, entity, document)
            return key
        }
    }

    /// Runs a query on the unsaved changes, in a write transaction that is rolled back.
    private func overlaid(_ query: Database.Query<BSONDocument>, _ entity: AnyEntity) async throws -> [ObjectKey] {
        do {
            try await database.write(isolation: self) { transaction in
                throw Undone(keys: try self.keys(of: query, entity, in: transaction))
            }
            return []
        } catch let undone as Undone {
            return undone.keys
        }
    }

    private func keys(
        of query: Database.Query<BSONDocument>, _ entity: AnyEntity, in transaction: Database.Transaction
    ) throws -> [ObjectKey] {
        var keys: [ObjectKey] = []
        do {
            try transaction.savepoint {
                try applyChanges(in: transaction)
                keys = try query.inTransaction(transaction).all().map {
                    ObjectKey(collection: entity.collection, id: $0["_id"] ?? .null)
                }
                throw Undone(keys: [])
            }
        } catch is Undone {}
        // What the context does not know is as it is stored.
        for key in keys where entries[key] == nil {
            register(key, entity, try transaction.collection(key.collection).get(key.id))
        }
        return keys
    }

    private func applyChanges(in transaction: Database.Transaction) throws {
        for key in changed({ _ in true }) {
            guard let entry = entries[key] else { continue }
            do {
                try transaction.savepoint { try save(entry.current, key, in: transaction) }
            } catch let error as TansuError where error.code != .cancelled && error.code != .closed {
                // It will fail when it is saved; until then it is not stored.
            }
        }
    }
}

/// Ends what is rolled back on purpose.
private struct Undone: Error {
    let keys: [ObjectKey]
}

extension ObjectKey {
    /// The key of a value with an id.
    init(_ entity: AnyEntity, _ id: some Encodable) throws {
        try entity.checkStoresID()
        self.init(collection: entity.collection, id: try entity.coding.storedID(id))
    }
}
