#if TansuSync
import Foundation
import Tansu
import TansuBSON

/// A collection with revisions, as one CouchDB database.
///
/// Ordinary saves stay ordinary. The engine notes in their commits which documents they change, and these get a revision of their
/// net change before the layer reads or writes anything.
public final class ReplicatedCollection: Sendable {
    package let database: Database
    /// The name of the collection.
    public let name: String
    private let memory = Locked(Memory())
    /// Whether it is known to have revisions.
    private let isOn = Locked(false)
    private let waiters = SequenceWaiters()
    private let definitions = FindIndexDefinitions()

    /// What is known without the database.
    private struct Memory {
        /// The instance of the collection, once it was seen: another one may get its name.
        var instance: String?
        /// Whether it is not replicated any more.
        var isDropped = false
        var resolver: ConflictResolver?
        /// The compaction under way.
        var compaction: RevisionStore.Compaction?
        /// Whether there may be documents whose ids cannot be on the wire.
        var mayHaveOtherIDs = true
    }

    /// The collection was dropped or renamed without the layer.
    private struct Ended: Error {}

    private init(_ database: Database, _ name: String) {
        self.database = database
        self.name = name
    }

    // MARK: Opening

    /// The objects of a database, so that there is one of each collection.
    private final class Opened: Sendable {
        let collections = Locked<[BytewiseText: WeakCollection]>([:])
    }

    /// The database has these as its attachment, so they must not keep the database open.
    private struct WeakCollection {
        weak var collection: ReplicatedCollection?
    }

    /// The collection with revisions.
    ///
    /// - Parameters:
    ///   - name: The name of the collection.
    ///   - database: Its database.
    ///   - create: Whether to switch replication on when it is not; that gives each document its first revision.
    /// - Throws: ``SyncError`` with `.notReplicated`, or why the collection cannot be replicated.
    package static func open(_ name: String, in database: Database, create: Bool) throws -> ReplicatedCollection {
        let collection = try existing(name, in: database)
        if create {
            try collection.enable()
        } else if try !collection.isReplicated() {
            throw SyncError(
                .notReplicated, "Collection \"\(name)\" is not replicated; switch replication on first")
        }
        return collection
    }

    /// The collection as it is. One that is not replicated is read as if it were, and becomes a replicated one when something is written.
    package static func existing(_ name: String, in database: Database) throws -> ReplicatedCollection {
        let opened = database.attachment(Opened.self) { Opened() }
        let collection = opened.collections.withLock { collections in
            if let known = collections[BytewiseText(name)]?.collection, !known.isDropped { return known }
            let new = ReplicatedCollection(database, name)
            collections[BytewiseText(name)] = WeakCollection(collection: new)
            return new
        }
        if try collection.isReplicated() {
            guard try collection.isThere else {
                // Another one may have the name by now.
                try collection.settleEnd()
                return try self.existing(name, in: database)
            }
        } else if let former = try formerName(of: name, in: database) {
            // It was renamed without the layer.
            try database.write { try $0.session.moveReplication(of: former, to: name) }
        }
        return collection
    }

    /// The name under which a collection is replicated that has another one now.
    private static func formerName(of name: String, in database: Database) throws -> String? {
        guard let target = try Session(database).changeTracking(of: name),
            let instance = target.dropping(prefix: StoreNames.changesPrefix)
        else { return nil }
        let state = try database.collection(StoreNames.states).find(["instance": .string(instance)]).first()
        return state?["_id"]?.stringValue
    }

    private func isReplicated() throws -> Bool {
        try isOn.withLock { isOn in
            if !isOn { isOn = try database.collection(StoreNames.states).get(name) != nil }
            return isOn
        }
    }

    /// Gives the documents their revisions, unless they have some.
    package func enable() throws {
        try isOn.withLock { isOn in
            if !isOn, try database.collection(StoreNames.states).get(name) == nil { try switchOn() }
            isOn = true
        }
    }

    /// Decides about conflicts from now on.
    func setResolver(_ resolver: @escaping ConflictResolver) { memory.withLock { $0.resolver = resolver } }

    /// Notes that the collection is not replicated any more.
    func markAsDropped() { memory.withLock { $0.isDropped = true } }

    /// Whether it is known that the collection is not replicated any more, or gone.
    package var isDropped: Bool { memory.withLock(\.isDropped) }

    /// Whether the collection is replicated, and there.
    package var isThere: Bool {
        get throws {
            guard try isReplicated() else { return try database.collectionNames().contains(name) }
            guard !isDropped, let state = try savedState(database.collection(StoreNames.states)) else { return false }
            return try Session(database).changeTracking(of: name) == StoreNames.changes(state.instance)
        }
    }

    private func switchOn() throws {
        try validateIDs()
        try database.ensureCollection(name)
        // Files go with their documents, and what names blobs is found by an index.
        try database.write { try AttachmentRecords.create(for: name, in: $0.session) }
        for name in StoreNames.all(name) { try database.ensureCollection(name) }
        try database.collection(StoreNames.bodies(name)).ensureIndex(
            "blobs", on: [BlobLayout.reference: .ascending], sparse: true)
        let records = try database.collection(StoreNames.revisions(name))
        try records.ensureIndex("by_sequence", on: ["seq": .ascending], unique: true)
        try records.ensureIndex("by_conflicts", on: ["conflicts": .ascending], sparse: true)
        var state = StoreState()
        state.enabledUpTo = ""
        let changes = StoreNames.changes(state.instance)
        try database.ensureCollection(changes)
        try database.write { transaction in
            // Attachments change a document as well.
            for tracked in [name, StoreNames.attachments(name)] {
                try transaction.session.setChangeTracking(changes, of: tracked)
            }
            let store = try RevisionStore(transaction, name, state)
            store.isStateChanged = true
            try store.finish()
        }
    }

    /// Refuses a collection with a document that cannot be replicated, before anything is stored.
    private func validateIDs() throws {
        try database.read { transaction in
            try RevisionStore(transaction, name, StoreState()).validateDocuments()
        }
    }

    // MARK: Transactions

    /// Runs the closure in a snapshot in which every document has its revision; in a write transaction when some get theirs first.
    package func read<Result>(_ body: (RevisionStore) throws -> Result) throws -> Result {
        guard try isReplicated() else {
            return try database.read { try body(RevisionStore(unrecorded: $0, name)) }
        }
        return try readAtOnce(body) ?? write(body)
    }

    /// Runs the closure where the caller runs, in such a snapshot, if no document has to get its revision first.
    ///
    /// - Parameter body: What takes some microseconds.
    /// - Returns: What the closure returns; nil when ``read(_:)`` has to run it.
    package func readAtOnce<Result>(_ body: (RevisionStore) throws -> Result) throws -> Result? {
        guard try isReplicated(), !isDropped else { return nil }
        return try database.read { transaction in
            let store = try store(transaction)
            guard try store.isTracked(), try store.isFollowed() else { return nil }
            return try body(store)
        }
    }

    /// Runs the closure in a write transaction in which every document has its revision.
    ///
    /// When many documents have to get theirs first, they do so in transactions of their own.
    package func write<Result>(_ body: (RevisionStore) throws -> Result) throws -> Result {
        try enable()
        while true {
            var compacted: CompactionStep?
            let result: Result?
            do {
                result = try database.write { transaction in
                    let store = try store(transaction)
                    guard try store.isTracked() else { throw Ended() }
                    store.resolver = memory.withLock(\.resolver)
                    let isFollowed = try store.followBatch()
                    if store.sawOtherID { memory.withLock { $0.mayHaveOtherIDs = true } }
                    let result: Result? = isFollowed ? try body(store) : nil
                    if isFollowed { compacted = try compactIfDue(store) }
                    try store.finish()
                    return result
                }
            } catch is Ended {
                try settleEnd()
                throw notReplicated
            }
            if let compacted { memory.withLock { $0.compaction = compacted.next } }
            if let result { return result }
        }
    }

    /// What a transaction did of a compaction.
    private struct CompactionStep {
        let next: RevisionStore.Compaction?
    }

    /// Removes some bodies of former revisions when there are too many: a batch in each transaction.
    ///
    /// - Returns: How far it is once the transaction is committed; nil when nothing was due.
    private func compactIfDue(_ store: RevisionStore) throws -> CompactionStep? {
        let due = memory.withLock { memory in
            if memory.compaction == nil, store.needsCompaction {
                memory.compaction = RevisionStore.Compaction(stale: store.state.staleBodies)
            }
            return memory.compaction
        }
        return try due.map { CompactionStep(next: try store.compact($0)) }
    }

    /// The asynchronous variant: on a thread of the database.
    package func read<Result: Sendable>(
        _ body: @escaping @Sendable (RevisionStore) throws -> Result
    ) async throws -> Result {
        try await database.runReading { _ in try self.read(body) }
    }

    /// The asynchronous variant: on a thread of the database.
    package func write<Result: Sendable>(
        _ body: @escaping @Sendable (RevisionStore) throws -> Result
    ) async throws -> Result {
        try await database.runWriting { _ in try self.write(body) }
    }

    private func store(_ transaction: Database.Transaction) throws -> RevisionStore {
        guard let state = try savedState(transaction.collection(StoreNames.states)) else {
            markAsDropped()
            throw notReplicated
        }
        let store = try RevisionStore(transaction, name, state)
        store.definitions = definitions
        return store
    }

    /// What is stored of the collection as a whole; nil when it is not replicated any more, also when another one has its name.
    private func savedState(_ states: Database.Collection<BSONDocument>) throws -> StoreState? {
        guard let state = try states.get(name).map({ try StoreState($0) }) else { return nil }
        return memory.withLock { memory in
            if memory.instance == nil { memory.instance = state.instance }
            return memory.instance == state.instance ? state : nil
        }
    }

    private var notReplicated: SyncError {
        SyncError(.notReplicated, "Collection \"\(name)\" is not replicated any more")
    }

    /// Refuses a document that was saved with an id which cannot be on the wire. The server leaves such documents out; an app is told.
    ///
    /// - Throws: ``SyncError`` that names the document.
    func rejectOtherIDs() throws {
        try read { _ in }
        guard memory.withLock(\.mayHaveOtherIDs) else { return }
        try database.read { try RevisionStore($0, name, StoreState()).rejectOtherIDs() }
        memory.withLock { $0.mayHaveOtherIDs = false }
    }

    /// Follows what was done without the layer to the collection as a whole.
    private func settleEnd() throws {
        defer { markAsDropped() }
        try database.write { transaction in
            guard let state = try savedState(transaction.collection(StoreNames.states)) else { return }
            let tracked = try transaction.session.collectionsTracked(by: StoreNames.changes(state.instance))
            if let newName = tracked.first(where: { !$0.hasPrefix(StoreNames.attachments("")) }) {
                try transaction.session.moveReplication(of: name, to: newName)
            } else {
                try dropRevisions(transaction)
            }
        }
    }

    // MARK: Waiting

    /// Ends when the update sequence is above a number.
    ///
    /// - Throws: `CancellationError`, or why the revisions cannot be read.
    package func waitForChange(after sequence: Int64) async throws {
        try await database.runWriting { _ in try self.enable() }
        if try await read({ $0.state.sequence }) > sequence { return }
        let commits = Database.CommitWatch(database)
        try await waiters.wait(above: sequence) { [weak self] known in
            while let self {
                let mark = try commits.mark()
                let newest = try await read { $0.state.sequence }
                if newest > known { return newest }
                await commits.wait(after: mark)
            }
            throw CancellationError()
        }
    }
}

// MARK: - Validating

extension ReplicatedCollection {
    /// Checks a document before it is saved without the layer, which would find out too late.
    ///
    /// - Throws: ``SyncError`` when a replicated collection cannot have it. One without an id gets a valid one.
    package static func validate(_ document: BSONDocument, in name: String) throws {
        let id = try document["_id"].map { try RevisionStore.validWireID(of: $0, in: name) }
        try RevisionStore.validate(document, id ?? "new", in: name)
    }
}
#endif
