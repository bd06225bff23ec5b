/// Where the calls of collections and queries run: each in a transaction of its own at the newest commit, or all in one
/// transaction; and on which threads their async variants do.
package struct Session: Sendable {
    /// Whether a call may have to wait for the write transaction under way.
    package enum Access {
        case read
        case write
    }

    package let database: Database
    /// The engine's calls, in the transaction when there is one.
    let engine: EngineScope
    private let transactionQueue: WorkQueue?

    /// Every call in a transaction of its own.
    package init(_ database: Database) {
        self.database = database
        engine = EngineScope(engine: database.engine, transaction: nil)
        transactionQueue = nil
    }

    /// Every call inside a transaction.
    init(_ database: Database, _ transaction: EngineTransaction, queue: WorkQueue) {
        self.database = database
        engine = EngineScope(engine: database.engine, transaction: transaction)
        transactionQueue = queue
    }

    /// The transaction; `nil` when every call has one of its own.
    var transaction: EngineTransaction? { engine.transaction }

    /// Whether every call is in one transaction.
    package var isInTransaction: Bool { transaction != nil }

    /// Throws `.busy` where a write of its own would wait for the transaction that this task is in.
    func checkMayWrite() throws {
        if transaction == nil { try database.rejectInsideOwnWrite() }
    }

    /// Runs `body` in a transaction: one of its own, or a savepoint of the one that there is. When `body` throws, what
    /// it did is rolled back.
    package func inTransaction<Result>(_ body: (Session) throws -> Result) throws -> Result {
        guard let transaction else {
            return try database.writeInCall { try body($0.session) }
        }
        return try transaction.savepoint { try body(self) }
    }

    /// Runs `body` in one snapshot: of a transaction of its own, or of the one that there is.
    package func inSnapshot<Result>(_ body: (Session) throws -> Result) throws -> Result {
        guard transaction == nil else { return try body(self) }
        return try database.readInCall { try body($0.session) }
    }

    /// Runs `body` on the right thread and suspends the task meanwhile.
    func run<Result: Sendable>(
        _ access: Access, _ body: @escaping @Sendable (CancellationFlag) throws -> Result
    ) async throws -> Result {
        if access == .write { try checkMayWrite() }
        if let transactionQueue { return try await transactionQueue.run(body) }
        switch access {
        case .read: return try await database.readers.run(body)
        case .write: return try await database.writers.run(within: database.waitLimit, body)
        }
    }

    /// The same for a call that may run long: it stops when the task is cancelled meanwhile, and then keeps nothing.
    package func runCancellable<Result: Sendable>(
        _ access: Access, _ body: @escaping @Sendable (Session) throws -> Result
    ) async throws -> Result {
        try await run(access) { flag in try cancellable(access, flag, body) }
    }

    /// Runs `body` in a transaction of its own, which is what the engine can cancel, or in the one that there is:
    /// that is cancelled as a whole, by the task that began it.
    func cancellable<Result>(
        _ access: Access, _ flag: CancellationFlag, _ body: (Session) throws -> Result
    ) throws -> Result {
        if transaction != nil { return try body(self) }
        switch access {
        case .read: return try database.readInCall(cancelledBy: flag) { try body($0.session) }
        case .write: return try database.writeInCall(cancelledBy: flag) { try body($0.session) }
        }
    }
}

// MARK: - In place

// Short reads run where their task is, because a switch to a thread of the database and back takes much longer than they
// do. Nothing here waits for a writer or for another task.

/// What a read on the executor of its caller may take at most.
enum InPlace {
    /// Documents.
    static let documents = 64
    /// Bytes of documents, because decoding takes time, too.
    static let bytes = 64 << 10
    /// Milliseconds of a query, until it is run again on a thread of the database.
    static let milliseconds = 1
}

extension Session {
    /// Runs a read of some microseconds on the executor of the caller.
    ///
    /// - Returns: What `body` returns; `nil` when the read must run on a thread of the database, because another thread
    ///   uses the transaction now or `body` returned `nil`.
    /// - Throws: What `body` throws; `CancellationError`, without calling it, when the task is cancelled.
    func inPlace<Result>(_ body: () throws -> Result?) throws -> Result? {
        try Task.checkCancellation()
        guard let transaction else { return try body() }
        return try transaction.aloneUnlessBusy(body).flatMap { $0 }
    }
}
