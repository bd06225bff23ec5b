import CTansu
import Foundation

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
    /// The number of its commit, once it has one.
    private var sequence: UInt64?
    /// What to run when it has ended.
    private var endings: [@Sendable () -> Void] = []

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
        try lock.withLock {
            guard let handle else {
                throw TansuError(
                    .invalidState, "The transaction has ended; use its collections and cursors only inside its closure")
            }
            return try body(database, handle)
        }
    }

    /// Commits and ends it; on an error it was rolled back (but see `.syncFailed`).
    func commit() throws {
        try engine.measured(MeasuredCall(kind: .commit)) { try commitUnmeasured() }
    }

    private func commitUnmeasured() throws {
        try lock.withLock {
            try call { _, transaction in
                closeCursors()
                defer { end() }
                try engine.end(for: holder) {
                    handle = nil
                    interrupt.end()
                    var error = tansu_error()
                    error.offset = -1
                    var sequence: UInt64 = 0
                    let status = tansu_txn_commit(transaction, &sequence, &error)
                    // After a rejected commit the transaction is still open.
                    if status == TANSU_E_BUSY { tansu_txn_abort(transaction) }
                    if status != TANSU_OK { throw TansuError(status: status, error: error) }
                    self.sequence = sequence
                }
            }
        }
    }

    /// The number of its commit; nil before it.
    var commitSequence: Int? { lock.withLock { sequence.map { Int(clamping: $0) } } }

    /// Rolls back and ends it; does nothing after the end.
    func abort() {
        lock.withLock {
            closeCursors()
            guard let transaction = handle else { return }
            handle = nil
            interrupt.end()
            engine.end(for: holder) { tansu_txn_abort(transaction) }
            end()
        }
    }

    /// Runs `body` when the transaction has ended, committed or rolled back. Called inside a call.
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
