import Foundation
import TansuBSON
#if canImport(CTansuSource)
import CTansuSource
#else
import CTansu
#endif

/// One transaction of the engine.
///
/// `@unchecked Sendable`: the engine allows one thread at a time in a transaction and its cursors, which `lock`
/// ensures. It is recursive because a decoder may read another document.
final class EngineTransaction: @unchecked Sendable {
    let engine: EngineDatabase
    private let lock = NSRecursiveLock()
    private let database: OpaquePointer
    private var handle: OpaquePointer?
    private let holder: EngineDatabase.Holder
    private let interrupt: EngineInterrupt
    /// What its calls have read; `nil` when nobody wants to know.
    let reads: ReadSet?
    private var cursors: [ObjectIdentifier: EngineCursor.Handle] = [:]

    /// What a transaction may do.
    enum Mode: Sendable {
        case read
        /// `nil` is the database's own durability.
        case write(Database.Durability?)
    }

    /// Begins, and waits for the write lock if need be. Throws `.busy`, `.readOnly`, `.syncFailed` or `.closed`; a
    /// `CancellationError` or `.cancelled` when `flag` is set meanwhile.
    init(
        _ engine: EngineDatabase, _ mode: Mode, for holder: EngineDatabase.Holder, cancelledBy flag: CancellationFlag?,
        tracking reads: ReadSet? = nil
    ) throws {
        let interrupt = EngineInterrupt { tansu_txn_cancel($0) }
        self.engine = engine
        self.holder = holder
        self.interrupt = interrupt
        self.reads = reads
        (database, handle) = try engine.open(for: holder) { database in
            let handle = try Self.prepare(database, mode)
            interrupt.begin(handle)
            do {
                let start = { _ = try engineCall { tansu_txn_start(handle, $0) } }
                switch (flag, mode) {
                case (nil, _): try start()
                case (let flag?, .read): try flag.cancelling(with: interrupt.request, start)
                case (let flag?, .write): try flag.waiting(with: interrupt.request, start)
                }
            } catch {
                interrupt.end()
                tansu_txn_abort(handle)
                throw error
            }
            return (database, handle)
        }
    }

    /// A transaction that is still to be started.
    private static func prepare(_ database: OpaquePointer, _ mode: Mode) throws -> OpaquePointer? {
        var handle: OpaquePointer?
        try engineCall { error in
            switch mode {
            case .read: tansu_txn_prepare(database, TANSU_TXN_READ, TANSU_DURABILITY_DEFAULT, &handle, error)
            case .write(let durability):
                tansu_txn_prepare(
                    database, TANSU_TXN_WRITE, durability?.engineValue ?? TANSU_DURABILITY_DEFAULT, &handle, error)
            }
        }
        return handle
    }

    deinit {
        // Only when a task is destroyed in the middle, without commit or abort.
        abort()
    }

    /// Cancels it, from any thread: its calls and its commit throw `.cancelled`. It may be called at any time.
    func cancel() {
        interrupt.request()
    }

    /// Throws `.cancelled` when it was cancelled, for the end of a read transaction, which has no commit that would.
    func checkCancellation() throws {
        if interrupt.wasRequested { throw TansuError(.cancelled, "The transaction was cancelled", context: "txn") }
    }

    /// Whether it may still be used.
    var isOpen: Bool {
        lock.withLock { handle != nil }
    }

    /// Runs `body` under the lock of the transaction.
    func alone<Result>(_ body: () throws -> Result) rethrows -> Result {
        try lock.withLock(body)
    }

    /// Runs `body` under the lock of the transaction; `nil`, without waiting, while another thread holds it.
    func aloneUnlessBusy<Result>(_ body: () throws -> Result) rethrows -> Result? {
        guard lock.try() else { return nil }
        defer { lock.unlock() }
        return try body()
    }

    /// Runs `body` with the database and the transaction under the lock. Throws `.invalidState` after the end.
    func call<Result>(_ body: (OpaquePointer, OpaquePointer) throws -> Result) throws -> Result {
        let (database, handle) = try enter()
        defer { leave() }
        return try body(database, handle)
    }

    /// Takes the lock, and returns the database and the transaction; `leave()` must follow. Throws `.invalidState`
    /// after the end.
    func enter() throws -> (OpaquePointer, OpaquePointer) {
        lock.lock()
        if let handle { return (database, handle) }
        lock.unlock()
        throw TansuError(
            .invalidState, "The transaction has ended; use its collections and cursors only inside its closure")
    }

    func leave() {
        lock.unlock()
    }

    /// Commits and ends it; on an error it was rolled back (but see `.syncFailed`).
    func commit() throws {
        try lock.withLock {
            try call { _, transaction in
                closeCursors()
                try engine.end(for: holder) {
                    handle = nil
                    interrupt.end()
                    var error = tansu_error.none
                    let status = tansu_txn_commit(transaction, nil, &error)
                    // After a rejected commit the transaction is still open.
                    if status == TANSU_E_BUSY { tansu_txn_abort(transaction) }
                    try status.check(error)
                }
            }
        }
    }

    /// Rolls back and ends it; does nothing after the end.
    func abort() {
        lock.withLock {
            closeCursors()
            guard let transaction = handle else { return }
            handle = nil
            interrupt.end()
            engine.end(for: holder) { tansu_txn_abort(transaction) }
        }
    }

    /// Makes the end of the transaction the end of the cursor.
    func adopt(_ cursor: EngineCursor.Handle) {
        cursors[ObjectIdentifier(cursor)] = cursor
    }

    /// Closes a cursor, unless the transaction's end has closed it.
    func close(_ cursor: EngineCursor.Handle) {
        lock.withLock {
            cursors[ObjectIdentifier(cursor)] = nil
            cursor.close()
        }
    }

    private func closeCursors() {
        for cursor in cursors.values { cursor.close() }
        cursors.removeAll()
    }
}

// MARK: - Savepoints

extension EngineTransaction {
    /// Runs `body`; when it throws, its changes of documents are rolled back and the transaction continues.
    ///
    /// Other tasks that share the transaction wait meanwhile: their changes would be rolled back with it.
    func savepoint<Result>(_ body: () throws -> Result) throws -> Result {
        try alone {
            try call { _, transaction in _ = try engineCall { tansu_savepoint_begin(transaction, $0) } }
            let result: Result
            do {
                result = try body()
            } catch {
                // The engine ends cursors that `body` left open. When the rollback fails, the next call of the
                // transaction reports it.
                try? call { _, transaction in _ = try engineCall { tansu_savepoint_roll_back(transaction, $0) } }
                throw error
            }
            try call { _, transaction in _ = try engineCall { tansu_savepoint_release(transaction, $0) } }
            return result
        }
    }
}

// MARK: - ReadSet

/// What the calls in a read transaction have read: a change of anything else does not change their results.
///
/// `@unchecked Sendable`: everything that changes is accessed under the lock only.
final class ReadSet: @unchecked Sendable {
    /// What was read of a collection.
    private enum Part {
        case documents(Set<BSONValue>)
        case all
    }

    /// More documents of a collection count as all of it, so that memory is bounded.
    private static let mostDocuments = 1024

    private let lock = NSLock()
    private var parts: [BytewiseText: Part] = [:]
    private var hasReadCatalog = false

    /// A document was looked up by its id.
    func includeDocument(_ id: BSONValue, in collection: String) {
        let collection = BytewiseText(collection)
        lock.withLock {
            guard let key = id.comparable else {
                parts[collection] = .all
                return
            }
            switch parts[collection] {
            case .all: break
            case .documents(var ids):
                parts[collection] = nil  // so that the set is not copied
                ids.insert(key)
                parts[collection] = ids.count > Self.mostDocuments ? .all : .documents(ids)
            case nil: parts[collection] = .documents([key])
            }
        }
    }

    /// A query read documents of these collections.
    func includeAll(of collections: [String]) {
        lock.withLock { for name in collections { parts[BytewiseText(name)] = .all } }
    }

    /// The list of collections was read, which has the number of documents of each.
    func includeCatalog() {
        lock.withLock { hasReadCatalog = true }
    }

    /// Whether a change may change what was read.
    func contains(_ change: EngineChange) -> Bool {
        lock.withLock {
            if hasReadCatalog { return true }
            let collection = BytewiseText(change.collection)
            switch change.kind {
            case .insert, .update, .remove:
                switch parts[collection] {
                case .all: return true
                // An id of a kind that is not compared here may equal any other.
                case .documents(let ids): return change.id?.comparable.map(ids.contains) ?? true
                case nil: return false
                }
            // A collection that does not exist is empty, as is one that was created.
            case .collectionCreated: return false
            case .collectionDropped: return parts[collection] != nil
            case .collectionRenamed(let name): return parts[collection] != nil || parts[BytewiseText(name)] != nil
            case .unknown: return true
            }
        }
    }
}

extension BSONValue {
    /// The same for all values that are equal; `nil` for those of which this is not decided.
    var comparable: BSONValue? {
        switch self {
        case .string, .objectID, .bool, .date, .binary: self
        case .int32(let number): .int64(Int64(number))
        case .int64: self
        case .double(let number): Int64(exactly: number).map { .int64($0) } ?? (number.isNaN ? nil : self)
        default: nil
        }
    }
}

// MARK: - Checking

extension EngineTransaction {
    /// From now on a document that is not intact, by the checksum of its commit, is an error where it is read.
    func checkDocuments() throws {
        try call { _, transaction in _ = try engineCall { tansu_txn_check_documents(transaction, $0) } }
    }
}
