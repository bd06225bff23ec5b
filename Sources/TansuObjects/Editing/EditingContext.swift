public import Tansu

/// Unsaved changes of documents, for an editor window or a form: fetched into it, changed, undone, and saved in one commit
/// or dropped.
///
/// ```swift
/// let context = EditingContext(db)
/// let books = try await context.fetch(db.collection(of: Book.self).find { $0.year > 1970 })
/// try await context.update(Book.self, id: books[0].id) { $0.title = "The Dispossessed" }
/// try await context.undo()
/// try await context.save()
/// ```
///
/// Values are copies; the context has the documents. `fetch` and `get` see its unsaved changes over what is stored. A
/// document that someone else changes after it was first fetched is a conflict when it is saved, which the context's
/// ``EditingConflictPolicy`` resolves. A context that is dropped writes nothing. Fields that the type does not decode are
/// kept.
///
/// The types are those of the ``Model`` with which the database is used.
public actor EditingContext {
    /// The database.
    public nonisolated let database: Database

    let policy: EditingConflictPolicy
    let autosave: Autosave
    let undoLevels: Int

    /// The documents that it knows.
    var entries: [ObjectKey: Entry] = [:]
    /// The number of the last change, by which changed documents are ordered.
    var changeNumber = 0
    /// How many changes were saved or discarded, of `changeNumber`.
    var settledChanges = 0
    /// How many changes were made since the last save.
    var unsavedChanges: Int { changeNumber - settledChanges }

    var undoGroups: [UndoGroup] = []
    var redoGroups: [UndoGroup] = []
    var openGroup: UndoGroup?
    var groupDepth = 0

    var isSaving = false
    var waitingSaves: [CheckedContinuation<Void, Never>] = []
    var autosaveTask: Task<Void, Never>?

    /// What the last save of ``Autosave/after(_:)`` threw; `nil` when it succeeded.
    public internal(set) var autosaveError: (any Error)?

    /// One document.
    struct Entry: Sendable {
        let entity: AnyEntity
        /// As it was when the context read it or last saved it; `nil` when there was none.
        var stored: BSONDocument?
        /// As it is in the context; `nil` when it is removed.
        var current: BSONDocument?
        /// Where it comes among the changed ones.
        var order = 0

        var isChanged: Bool { stored != current }
    }

    /// A context without changes.
    ///
    /// - Parameters:
    ///   - database: The database, used with a ``Model``.
    ///   - conflicts: What to do with documents that someone else has changed.
    ///   - autosave: When it saves by itself.
    ///   - undoLevels: How many groups of changes can be undone; 0 for none.
    public init(
        _ database: Database, conflicts: EditingConflictPolicy = .fail, autosave: Autosave = .never,
        undoLevels: Int = 100
    ) {
        self.database = database
        policy = conflicts
        self.autosave = autosave
        self.undoLevels = undoLevels
    }

    deinit {
        autosaveTask?.cancel()
    }

    /// Whether there are unsaved changes.
    public var hasChanges: Bool { entries.values.contains(where: \.isChanged) }

    /// The documents that were inserted and not saved yet, in the order of their insertion.
    public var insertedObjects: [ObjectKey] { changed { $0.stored == nil && $0.current != nil } }

    /// The documents that were changed and not saved yet.
    public var updatedObjects: [ObjectKey] { changed { $0.stored != nil && $0.current != nil } }

    /// The documents that were removed, which is not saved yet.
    public var removedObjects: [ObjectKey] { changed { $0.stored != nil && $0.current == nil } }

    /// The unsaved inserted values of a type.
    ///
    /// - Throws: As `get`.
    public func insertedObjects<Element: Codable & Sendable & Identifiable>(of type: Element.Type) throws -> [Element] {
        try values(insertedObjects, of: type) { $0.current }
    }

    /// The unsaved changed values of a type, as they are in the context.
    ///
    /// - Throws: As `get`.
    public func updatedObjects<Element: Codable & Sendable & Identifiable>(of type: Element.Type) throws -> [Element] {
        try values(updatedObjects, of: type) { $0.current }
    }

    /// The removed values of a type, as they are stored.
    ///
    /// - Throws: As `get`.
    public func removedObjects<Element: Codable & Sendable & Identifiable>(of type: Element.Type) throws -> [Element] {
        try values(removedObjects, of: type) { $0.stored }
    }

    /// Forgets all unsaved changes, and everything that was fetched.
    public func discard() {
        entries = [:]
        settledChanges = changeNumber
        undoGroups = []
        redoGroups = []
        openGroup = openGroup.map { _ in UndoGroup() }
        autosaveTask?.cancel()
        autosaveTask = nil
    }

    func changed(_ isIncluded: (Entry) -> Bool) -> [ObjectKey] {
        entries.filter { $0.value.isChanged && isIncluded($0.value) }.sorted { $0.value.order < $1.value.order }.map(
            \.key)
    }

    private func values<Element: Codable & Sendable & Identifiable>(
        _ keys: [ObjectKey], of type: Element.Type, _ version: (Entry) -> BSONDocument?
    ) throws -> [Element] {
        let entity = try ModelRegistry.of(database).entity(of: type)
        return try keys.compactMap { key in
            guard key.collection == entity.collection else { return nil }
            return try entries[key].flatMap(version).flatMap { try entity.value($0) as? Element }
        }
    }
}

/// When an ``EditingContext`` saves its changes by itself.
public enum Autosave: Sendable, Hashable {
    /// Never: only `save()` does. The default.
    case never

    /// With the change that makes that many unsaved ones. That call throws what the save throws, with its change kept.
    case every(Int)

    /// So long after the first unsaved change. What the save throws is in ``EditingContext/autosaveError``, and the
    /// changes are kept; the next change begins another period.
    case after(Duration)
}

// MARK: - Fetching

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
