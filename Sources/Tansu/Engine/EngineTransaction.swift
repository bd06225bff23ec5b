import CTansu
import Foundation

/// One transaction of the engine.
///
/// `@unchecked Sendable`: the engine wants one thread at a time in a transaction and its cursors, and `lock`
/// sees to that. It is recursive because a decoder may come back for another document.
final class EngineTransaction: @unchecked Sendable {
    let engine: EngineDatabase
    private let lock = NSRecursiveLock()
    private let database: OpaquePointer
    private var handle: OpaquePointer?
    private let interrupt: EngineInterrupt
    private var cursors: [ObjectIdentifier: EngineCursor.Handle] = [:]
    /// What is to be done when it has ended.
    private var endings: [@Sendable () -> Void] = []

    /// What a transaction may do.
    enum Mode: Sendable {
        case read
        /// `nil` is the database's own durability.
        case write(Database.Durability?)
    }

    /// Begins, perhaps behind another writer. Throws `.busy`, `.readOnly`, `.failed` or `.closed`; a
    /// `CancellationError` or `.cancelled` when `flag` says so meanwhile.
    init(_ engine: EngineDatabase, _ mode: Mode, stoppedBy flag: CancellationFlag?) throws {
        let interrupt = EngineInterrupt { tansu_txn_cancel($0) }
        self.engine = engine
        self.interrupt = interrupt
        (database, handle) = try engine.open { database in
            let handle = try Self.prepare(database, mode)
            interrupt.begin(handle)
            do {
                let start = { _ = try engineCall { tansu_txn_start(handle, $0) } }
                if let flag { try flag.stopping(with: interrupt.ask, start) } else { try start() }
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
        // Only reached without commit or abort when a task is torn down in the middle.
        abort()
    }

    /// Stops it for good, from any thread: calls in it, and its commit, throw `.cancelled`. Harmless at any time.
    func cancel() {
        interrupt.ask()
    }

    /// Whether it may still be used.
    var isOpen: Bool {
        lock.withLock { handle != nil }
    }

    /// Runs `body` while nobody else uses the transaction; calls inside it are this thread's.
    func alone<Result>(_ body: () throws -> Result) rethrows -> Result {
        try lock.withLock(body)
    }

    /// Runs `body` with the database and the transaction, alone. Throws `.misuse` after the end.
    func call<Result>(_ body: (OpaquePointer, OpaquePointer) throws -> Result) throws -> Result {
        try lock.withLock {
            guard let handle else {
                throw TansuError(
                    .misuse, "the transaction has ended; use its collections and cursors inside its closure only")
            }
            return try body(database, handle)
        }
    }

    /// Commits and ends it; on an error nothing of it was kept (but see `.failed`).
    func commit() throws {
        try engine.measured(MeasuredCall(kind: .commit)) { try commitUnmeasured() }
    }

    private func commitUnmeasured() throws {
        try lock.withLock {
            try call { _, transaction in
                closeCursors()
                defer { end() }
                try engine.end {
                    handle = nil
                    interrupt.end()
                    var error = tansu_error()
                    error.offset = -1
                    let status = tansu_txn_commit(transaction, nil, &error)
                    // A refused commit leaves the transaction to us; nobody else will end it.
                    if status == TANSU_E_BUSY { tansu_txn_abort(transaction) }
                    if status != TANSU_OK { throw TansuError(status: status, error: error) }
                }
            }
        }
    }

    /// Drops what it did and ends it. Harmless when it has ended.
    func abort() {
        lock.withLock {
            closeCursors()
            guard let transaction = handle else { return }
            handle = nil
            interrupt.end()
            engine.end { tansu_txn_abort(transaction) }
            end()
        }
    }

    /// Has something done when the transaction has ended, whether it was committed or aborted. Called inside a call.
    func atEnd(_ body: @escaping @Sendable () -> Void) {
        lock.withLock { endings.append(body) }
    }

    private func end() {
        for body in endings { body() }
        endings.removeAll()
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
