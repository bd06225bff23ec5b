#if TansuSync
import Foundation
import Tansu
import TansuBSON

/// A collection with revisions, as one CouchDB database.
///
/// Ordinary saves stay ordinary. The layer follows the change stream of the database, and gives the net change of a
/// document one revision when someone asks for revisions.
public final class ReplicatedCollection: Sendable {
    package let database: Database
    /// The name of the collection.
    public let name: String
    private let follower: Locked<Follower>
    /// Whether it is known to have revisions.
    private let isOn = Locked(false)
    private let waiters = SequenceWaiters()
    private let definitions = FindIndexDefinitions()
    /// The instance of the collection that is followed.
    private let instance = Locked<String?>(nil)

    /// What was read of the change stream.
    private struct Follower {
        /// Nil until it is opened, and after an error.
        var reader: Database.ChangeReader?
        var changes = LocalChanges()
        /// The last commit that was read completely.
        var sequence = 0
        /// Whether the number of the commit from which on the reader reads is not known.
        var needsPosition = false
        /// Whether all documents must be compared, and how far that is.
        var comparison: RevisionStore.Comparison?
        /// What ended the replication under this name.
        var end: End?
        var resolver: ConflictResolver?
        /// The compaction under way.
        var compaction: RevisionStore.Compaction?
        /// Whether there may be documents whose ids cannot be on the wire.
        var mayHaveOtherIDs = true
        /// The numbers of large commits of the layer itself which were not read yet.
        var own: Set<Int> = []
    }

    /// What happened to the collection as a whole.
    private enum End: Hashable {
        /// Dropped by the app, which the layer has yet to follow.
        case dropped
        /// Renamed by the app, which the layer has yet to follow.
        case renamed(to: String)
        /// Not replicated any more.
        case settled
    }

    private init(_ database: Database, _ name: String) {
        self.database = database
        self.name = name
        follower = Locked(Follower())
    }

    // MARK: Opening

    /// The objects of a database, so that each collection is followed once.
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
        if try collection.isReplicated(), try !collection.isThere {
            // It was dropped or renamed while nobody followed it; another one may have the name by now.
            try collection.settleEnd()
            return try self.existing(name, in: database)
        }
        return collection
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

    /// How many documents may have changed since they were compared.
    var pendingCount: Int { follower.withLock { $0.changes.pending.count } }

    /// Decides about conflicts from now on.
    func setResolver(_ resolver: @escaping ConflictResolver) { follower.withLock { $0.resolver = resolver } }

    /// Notes that the collection is not replicated any more.
    func markAsDropped() { follower.withLock { $0.end = .settled } }

    /// Whether it is known that the collection is not replicated any more, or gone.
    package var isDropped: Bool { follower.withLock { $0.end != nil } }

    /// Whether the collection is replicated, and as far as the change stream says it is there.
    package var isThere: Bool {
        get throws {
            guard try isReplicated() else { return try database.collectionNames().contains(name) }
            return try follower.withLock { follower in
                try poll(&follower, since: savedPosition)
                return follower.end == nil
            }
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
        try database.write { transaction in
            let store = try RevisionStore(transaction, name, StoreState())
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

    private func makeReader(since: Int?) throws -> Database.ChangeReader {
        try Database.ChangeReader(database, since: since, collections: [name, StoreNames.attachments(name)])
    }

    // MARK: Transactions

    /// Runs the closure in a snapshot in which every local change has its revision.
    package func read<Result>(_ body: (RevisionStore) throws -> Result) throws -> Result {
        guard try isReplicated() else {
            return try database.read { try body(RevisionStore(unrecorded: $0, name)) }
        }
        // Local saves between following and the snapshot are seen in it: then it is tried again.
        for _ in 0..<4 {
            try follow()
            try rejectIfEnded()
            let mark = follower.withLock(\.changes.mark)
            let result: Result? = try database.read { transaction in
                let store = try store(transaction)
                guard try !isBehind(store, since: mark) else { return nil }
                return try body(store)
            }
            if let result { return result }
        }
        return try write(readingAll: true, body)
    }

    /// Runs the closure where the caller runs, in such a snapshot, if there is nothing to follow before.
    ///
    /// - Parameter body: What takes some microseconds.
    /// - Returns: What the closure returns; nil when there are local changes to follow: then ``read(_:)`` has to.
    package func readAtOnce<Result>(_ body: (RevisionStore) throws -> Result) throws -> Result? {
        guard try isReplicated(), let mark = try markIfFollowed() else { return nil }
        return try database.read { transaction in
            let store = try store(transaction)
            // Local saves since then may be in the snapshot.
            guard try markIfFollowed() == mark else { return nil }
            return try body(store)
        }
    }

    /// The mark of the local changes; nil when there are changes to follow.
    private func markIfFollowed() throws -> Int? {
        try follower.withLock { follower in
            guard follower.reader != nil, follower.end == nil else { return nil }
            try poll(&follower, since: { 0 })
            let isFollowed = follower.changes.isEmpty && follower.comparison == nil && follower.end == nil
            return isFollowed ? follower.changes.mark : nil
        }
    }

    /// Runs the closure in a write transaction in which every local change that readers see has its revision.
    ///
    /// The transaction may have commits that readers do not see before they are on the disk. When the store changes documents, it
    /// first gives them their revisions.
    ///
    /// - Parameter readingAll: Whether it waits for the disk, so that every local change has its revision: for closures that read
    ///   documents.
    package func write<Result>(
        readingAll: Bool = false, _ body: (RevisionStore) throws -> Result
    ) throws -> Result {
        try enable()
        try compareAll()
        try rejectIfEnded()
        var taken: LocalChanges.Taken?
        var compacted: CompactionStep?
        var own: Database.Transaction?
        do {
            let result = try database.write { transaction in
                let store = try store(transaction)
                store.resolver = follower.withLock(\.resolver)
                if readingAll { try database.sync() }
                taken = try followPending(store)
                let result = try body(store)
                compacted = try compactIfDue(store)
                try store.finish()
                if try isOwn(store) { own = transaction }
                return result
            }
            if let taken { follower.withLock { $0.changes.settle(taken) } }
            if let sequence = own?.commitSequence { noteOwn(sequence) }
            if let compacted { follower.withLock { $0.compaction = compacted.next } }
            return result
        } catch {
            if let taken { follower.withLock { $0.changes.putBack(taken) } }
            throw error
        }
    }

    /// Commits that write fewer documents are compared like those of others, which costs less than to ask whether they have to be.
    private static let largeCommit = 64

    /// Whether a transaction changes many documents, and only those that the layer has written, each with its revision: where documents
    /// have references the engine changes more.
    private func isOwn(_ store: RevisionStore) throws -> Bool {
        guard store.writtenCount >= Self.largeCommit,
            let info = try store.transaction.session.collectionInfo(name)
        else { return false }
        return info.references.isEmpty
    }

    /// Notes a commit whose changes are no local ones.
    private func noteOwn(_ sequence: Int) {
        follower.withLock { follower in
            if follower.sequence < sequence {
                follower.own.insert(sequence)
            } else {
                // Another thread has read the commit already.
                follower.changes.settle(commit: sequence)
            }
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
        let due = follower.withLock { follower in
            if follower.compaction == nil, store.needsCompaction {
                follower.compaction = RevisionStore.Compaction(stale: store.state.staleBodies)
            }
            return follower.compaction
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
        guard let document = try transaction.collection(StoreNames.states).get(name) else {
            throw SyncError(.notReplicated, "Collection \"\(name)\" is not replicated any more")
        }
        let store = try RevisionStore(transaction, name, StoreState(document))
        store.definitions = definitions
        return store
    }

    // MARK: Following

    /// Reads what there is of the change stream.
    private func poll(_ follower: inout Follower, since saved: () throws -> Int) throws {
        do {
            if follower.reader == nil {
                let position = follower.sequence > 0 ? follower.sequence : try saved()
                // Before the first comparison is done, nothing was followed.
                if position == 0 { throw TansuError(.notFound, "Nothing was followed") }
                follower.reader = try makeReader(since: position)
                follower.sequence = position
            }
            while let event = try follower.reader?.next(omitting: follower.own) {
                switch event.change?.kind {
                case .insert, .update, .remove:
                    guard let id = event.change?.id else { break }
                    if RevisionStore.wireID(of: id) == nil { follower.mayHaveOtherIDs = true }
                    follower.changes.note(id, commit: event.sequence)
                case .collectionDropped:
                    if event.change?.collection == name { follower.end = follower.end ?? .dropped }
                case .collectionRenamed(let newName):
                    if event.change?.collection == name { follower.end = follower.end ?? .renamed(to: newName) }
                case .collectionCreated, nil: break
                }
                if event.isLastOfCommit {
                    follower.sequence = event.sequence
                    if !follower.own.isEmpty { follower.own = follower.own.filter { $0 > event.sequence } }
                }
            }
        } catch let error as TansuError where error.code == .notFound {
            // The changes since then are not known any more: everything is compared, from a commit on that is known.
            follower.reader = try makeReader(since: nil)
            follower.own = []
            follower.needsPosition = true
            follower.comparison = RevisionStore.Comparison()
        } catch {
            follower.reader = nil
            throw error
        }
    }

    /// Refuses a document that was saved with an id which cannot be on the wire. The server leaves such documents out; an app is told.
    ///
    /// - Throws: ``SyncError`` that names the document.
    func rejectOtherIDs() throws {
        let mayHaveSome = try follower.withLock { follower in
            try poll(&follower, since: savedPosition)
            defer { follower.mayHaveOtherIDs = false }
            return follower.mayHaveOtherIDs
        }
        guard mayHaveSome else { return }
        do {
            try database.read { try RevisionStore($0, name, StoreState()).rejectOtherIDs() }
        } catch {
            follower.withLock { $0.mayHaveOtherIDs = true }
            throw error
        }
    }

    /// Makes a commit, and lets the reader read on from it: its number is known.
    private func findPosition() throws {
        // Outside of the lock, which writers take inside of their transactions.
        try database.write { transaction in
            let store = try store(transaction)
            store.isStateChanged = true
            try store.finish()
        }
        try follower.withLock { follower in
            guard follower.needsPosition, let sequence = try follower.reader?.skip() else { return }
            follower.sequence = sequence
            follower.needsPosition = false
        }
    }

    /// Follows what the app did with the collection as a whole.
    private func settleEnd() throws {
        guard let end = follower.withLock(\.end), end != .settled else { return }
        // Another collection may have the name by now, with its revisions.
        guard try keepsFollowed() else { return markAsDropped() }
        switch end {
        case .renamed(let newName):
            // The C library renames the collection alone.
            try database.write { try $0.session.moveReplication(of: name, to: newName) }
            markAsDropped()
        case .dropped: try dropRevisions(alsoDocuments: false)
        case .settled: break
        }
    }

    /// Whether what is kept under the name, if there is anything, is of the collection that was followed.
    private func keepsFollowed() throws -> Bool {
        guard let followed = instance.withLock({ $0 }),
            let state = try database.collection(StoreNames.states).get(name)
        else { return true }
        return try StoreState(state).instance == followed
    }

    private func rejectIfEnded() throws {
        try settleEnd()
        guard isDropped else { return }
        throw SyncError(.notReplicated, "Collection \"\(name)\" is not replicated any more")
    }

    /// How far the change stream was followed; 0 when all documents have to be looked at.
    private func savedPosition() throws -> Int {
        guard let state = try database.collection(StoreNames.states).get(name).map({ try StoreState($0) }) else {
            return 0
        }
        instance.withLock { $0 = state.instance }
        return state.hasExactRevpos ? state.followed : 0
    }

    /// Gives all local changes that there are their revisions; a write transaction only if there are some.
    private func follow() throws {
        try compareAll()
        let pending = try follower.withLock { follower in
            try poll(&follower, since: savedPosition)
            return follower.changes.uncertain
        }
        guard !pending.isEmpty else { return }
        let changed = try database.read { try store($0).changedLocally(Array(pending.keys)) }
        if changed.isEmpty {
            follower.withLock { $0.changes.settle(pending) }
        } else {
            try write { _ in }
        }
    }

    /// Whether a snapshot that was taken after a mark has local changes without revisions.
    private func isBehind(_ store: RevisionStore, since mark: Int) throws -> Bool {
        let pending = try follower.withLock { follower in
            try poll(&follower, since: savedPosition)
            return follower.comparison == nil ? follower.changes.uncertain(since: mark) : nil
        }
        guard let pending else { return true }
        return try !pending.isEmpty && !store.changedLocally(Array(pending.keys)).isEmpty
    }

    private func followPending(_ store: RevisionStore) throws -> LocalChanges.Taken {
        let (taken, sequence) = try follower.withLock { follower in
            try poll(&follower, since: savedPosition)
            return (follower.changes.take(), follower.sequence)
        }
        do { try store.follow(taken.ids) } catch {
            follower.withLock { $0.changes.putBack(taken) }
            throw error
        }
        if sequence > store.state.followed { store.state.followed = sequence }
        return taken
    }

    /// Compares all documents if that is needed, in transactions of bounded size.
    private func compareAll() throws {
        while true {
            let (needed, position) = try follower.withLock { follower in
                if follower.reader == nil { try poll(&follower, since: savedPosition) }
                return (follower.comparison, follower.needsPosition ? nil : follower.sequence)
            }
            guard var comparison = needed else { return }
            guard let position else {
                try findPosition()
                continue
            }
            try database.write { transaction in
                let store = try store(transaction)
                try store.compare(&comparison)
                if comparison.stage == .done {
                    store.state.followed = position
                    store.state.hasExactRevpos = true
                }
                store.isStateChanged = true
                try store.finish()
            }
            follower.withLock { follower in
                follower.comparison = comparison.stage == .done ? nil : comparison
                follower.changes.settleAll()
            }
        }
    }

    // MARK: Waiting

    /// Ends when the update sequence is above a number.
    ///
    /// - Throws: `CancellationError`, or why the changes cannot be followed.
    package func waitForChange(after sequence: Int64) async throws {
        try await database.runWriting { _ in try self.enable() }
        if try await read({ $0.state.sequence }) > sequence { return }
        try await waiters.wait(above: sequence) { [weak self] known in
            while let self {
                let mark = try mark()
                let newest = try await read { $0.state.sequence }
                if newest > known { return newest }
                await wait(after: mark)
            }
            throw CancellationError()
        }
    }

    private func mark() throws -> UInt64 {
        try follower.withLock { follower in
            try poll(&follower, since: savedPosition)
            return try follower.reader?.mark() ?? 0
        }
    }

    private func wait(after mark: UInt64) async {
        guard let reader = follower.withLock({ $0.reader }) else { return }
        await reader.wait(after: mark)
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
