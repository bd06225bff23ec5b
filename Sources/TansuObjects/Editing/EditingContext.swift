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
