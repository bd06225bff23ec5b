public import Tansu

/// What one commit did to the documents of the model's collections: inserted, updated and deleted ones.
public struct ObjectChanges: Sendable, Hashable {
    /// The documents that did not exist before.
    public internal(set) var inserted: Set<ObjectKey> = []

    /// The documents that existed before and exist now.
    public internal(set) var updated: Set<ObjectKey> = []

    /// The documents that exist no more.
    public internal(set) var deleted: Set<ObjectKey> = []

    /// The collections that were dropped or renamed with all their documents, which are not listed one by one.
    public internal(set) var droppedCollections: Set<String> = []

    /// The number of the commit, with which the sequence continues: `objectChanges(since:)`.
    public internal(set) var sequence = 0

    /// The ids of the documents of one collection.
    ///
    /// - Parameters:
    ///   - changes: `\.inserted`, `\.updated` or `\.deleted`.
    ///   - collection: The collection's name.
    public func ids(_ changes: KeyPath<ObjectChanges, Set<ObjectKey>>, in collection: String) -> Set<BSONValue> {
        Set(self[keyPath: changes].filter { $0.collection == collection }.map(\.id))
    }

    var isEmpty: Bool {
        inserted.isEmpty && updated.isEmpty && deleted.isEmpty && droppedCollections.isEmpty
    }
}

extension Database {
    /// The changes of all commits from now on, one event for each, as users of Core Data know them.
    ///
    /// ```swift
    /// for try await changes in db.objectChanges() {
    ///     show(changes.ids(\.inserted, in: "books"))
    /// }
    /// ```
    ///
    /// With a model there are events of its collections only. It behaves as `changes(since:)`, on which it is built.
    ///
    /// - Parameter since: The number of the last commit that was seen; the newest when `nil`.
    public func objectChanges(since: Int? = nil) -> ObjectChangeSequence {
        ObjectChangeSequence(changes(since: since, documents: []), ModelRegistry.of(self))
    }
}

/// An endless sequence of events, one for each commit: see `objectChanges(since:)` of a database.
public struct ObjectChangeSequence: AsyncSequence, Sendable {
    private let changes: Database.Changes<BSONDocument>
    private let registry: ModelRegistry

    init(_ changes: Database.Changes<BSONDocument>, _ registry: ModelRegistry) {
        self.changes = changes
        self.registry = registry
    }

    /// Begins to read.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(changes: changes.makeAsyncIterator(), registry: registry)
    }

    /// Iterates over the events.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var changes: Database.Changes<BSONDocument>.AsyncIterator
        fileprivate let registry: ModelRegistry
        private var event = ObjectChanges()

        fileprivate init(changes: Database.Changes<BSONDocument>.AsyncIterator, registry: ModelRegistry) {
            self.changes = changes
            self.registry = registry
        }

        /// Waits for the next commit that changed something. `nil` only after an error.
        ///
        /// - Throws: As the iterator of `Database.Changes`.
        public mutating func next() async throws -> ObjectChanges? {
            while let change = try await changes.next() {
                note(change)
                guard change.isLastOfCommit else { continue }
                var whole = event
                event = ObjectChanges()
                guard !whole.isEmpty else { continue }
                whole.sequence = change.sequence
                return whole
            }
            return nil
        }

        private mutating func note(_ change: Database.Change<BSONDocument>) {
            guard registry.model?.has(change.collection) ?? !CommandLimits.isOwned(change.collection) else { return }
            if let id = change.id {
                let key = ObjectKey(collection: change.collection, id: id)
                switch change.kind {
                case .insert: event.inserted.insert(key)
                case .update: event.updated.insert(key)
                case .remove: event.deleted.insert(key)
                default: break
                }
            } else {
                switch change.kind {
                case .collectionDropped, .collectionRenamed: event.droppedCollections.insert(change.collection)
                default: break
                }
            }
        }
    }
}

extension Model {
    /// Whether an entity has the collection.
    fileprivate func has(_ collection: String) -> Bool {
        entities.contains { $0.collection == collection }
    }
}
