import Dispatch

extension Database {
    /// The write transaction with a suspending closure in which this task, or its parent, runs.
    @TaskLocal private static var enclosing: EngineTransaction?

    /// Throws `.busy` when the task is inside a write transaction itself, so that waiting for the write lock would be a
    /// deadlock.
    ///
    /// The engine detects that by its thread; a task inside a suspending closure may be on any thread.
    func rejectInsideOwnWrite() throws {
        if let enclosing = Self.enclosing, enclosing.engine === engine, enclosing.isOpen {
            throw TansuError(.busy, "This task is inside a write transaction; write through that transaction")
        }
    }

    /// Runs `body`, which writes in transactions of its own, on a thread of the database.
    package func runWriting<Result: Sendable>(
        _ body: @escaping @Sendable (CancellationFlag) throws -> Result
    ) async throws -> Result {
        try rejectInsideOwnWrite()
        return try await writers.run(within: waitLimit, body)
    }

    /// Runs `body`, which reads in transactions of its own, on a thread of the database.
    package func runReading<Result: Sendable>(
        _ body: @escaping @Sendable (CancellationFlag) throws -> Result
    ) async throws -> Result {
        try await readers.run(body)
    }

    /// Runs the closure in a write transaction, and commits everything that it did atomically.
    ///
    /// For example, in an actor:
    ///
    /// ```swift
    /// try await db.write { tx in
    ///     try tx.collection("people").save(person)
    ///     self.saved += 1
    /// }
    /// ```
    ///
    /// The closure runs where it is written: on the actor of the caller, whose state it may use, or, where there is no
    /// actor, on a thread of the database. The actor is free while the task waits for the write lock and for the disk;
    /// its state may change meanwhile. It is busy while the closure runs: on the main actor await long work in it, as
    /// `try await tx.collection("people").save(thousands)`, or pass `isolation: nil` and a closure that is `@Sendable`.
    ///
    /// When the task is cancelled before the end of the closure, the wait for the write lock ends, or the running call
    /// inside the closure stops soon, and the transaction is rolled back.
    ///
    /// - Parameters:
    ///   - durability: What the commit survives; the database's own when `nil`.
    ///   - isolation: The actor on which the closure runs: the caller's. With `nil` it is a thread of the database.
    ///   - body: The closure. Its error rolls everything back and is rethrown.
    /// - Returns: What the closure returns.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func write<Result>(
        durability: Durability? = nil, isolation: isolated (any Actor)? = #isolation,
        _ body: @escaping (Transaction) throws -> Result
    ) async throws -> Result {
        if isolation != nil {
            return try await writing(durability) { transaction in
                // The closure is the actor's only if it captures the actor.
                _ = isolation
                return try body(transaction)
            }
        }
        try rejectInsideOwnWrite()
        let body = Lent(body)
        return try await writers.run(within: waitLimit) { flag in
            Lent(try self.write(durability: durability, cancelledBy: flag, body.value))
        }.value
    }

    /// Runs a closure that itself awaits in a write transaction, and commits everything that it did atomically.
    ///
    /// Other writers wait until the closure ends: do not await anything slow in it. A task that the closure starts
    /// counts as inside; `Task.detached` does not. When the task is cancelled before the end of the closure, the wait
    /// for the write lock ends, or the running call inside the closure stops soon, and the transaction is rolled back.
    ///
    /// - Parameters:
    ///   - durability: What the commit survives; the database's own when `nil`.
    ///   - isolation: The actor on which the closure runs: the caller's.
    ///   - body: The closure. Its error rolls everything back and is rethrown.
    /// - Returns: What the closure returns.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func write<Result>(
        durability: Durability? = nil, isolation: isolated (any Actor)? = #isolation,
        _ body: (Transaction) async throws -> Result
    ) async throws -> Result {
        try await writing(durability, body)
    }

    private func writing<Result>(
        _ durability: Durability?, isolation: isolated (any Actor)? = #isolation,
        _ body: (Transaction) async throws -> Result
    ) async throws -> Result {
        try rejectInsideOwnWrite()
        let start = DispatchTime.now()
        let hasWaited = try await writeLock.acquire()
        defer { writeLock.release() }
        let transaction = try await transactions.run(within: waitLimit, since: hasWaited ? start : nil) { flag in
            try self.begin(.write(durability), queue: self.transactions, cancelledBy: flag)
        }
        let result: Result
        do {
            result = try await withTaskCancellationHandler {
                try await Self.$enclosing.withValue(transaction.engine) { try await body(transaction) }
            } onCancel: {
                transaction.cancel()
            }
        } catch {
            await transactions.finish { transaction.engine.abort() }
            throw error.asSeenByTask
        }
        do {
            try await transactions.finish { Swift.Result { try transaction.engine.commit() } }.get()
        } catch {
            throw error.asSeenByTask
        }
        return result
    }

    /// Runs the closure in a read transaction on a thread of the database: it sees one snapshot. When the task is
    /// cancelled, the running call inside it stops soon.
    ///
    /// - Parameter body: What to read, through the transaction's collections.
    /// - Returns: What the closure returns.
    /// - Throws: The closure's error, `CancellationError`, or ``TansuError`` with `.closed`; `.cancelled` where the
    ///   transaction was.
    public func read<Result: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws -> Result
    ) async throws -> Result {
        try await readers.run { flag in try self.read(cancelledBy: flag, body) }
    }

    /// Runs a closure that itself awaits in a read transaction: it sees one snapshot of the database. When the task is
    /// cancelled, the running call inside it stops soon.
    ///
    /// - Parameters:
    ///   - isolation: The actor on which the closure runs: the caller's.
    ///   - body: What to read, through the transaction's collections.
    /// - Returns: What the closure returns.
    /// - Throws: The closure's error, `CancellationError`, or ``TansuError`` with `.closed`; `.cancelled` where the
    ///   transaction was.
    public func read<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: (Transaction) async throws -> Result
    ) async throws -> Result {
        let snapshot = try await readers.run { flag in
            try self.begin(.read, queue: self.readers, cancelledBy: flag)
        }
        let result: Result
        do {
            result = try await withTaskCancellationHandler {
                try await body(snapshot)
            } onCancel: {
                snapshot.cancel()
            }
            try snapshot.engine.checkCancellation()
        } catch {
            await readers.finish { snapshot.engine.abort() }
            throw error.asSeenByTask
        }
        await readers.finish { snapshot.engine.abort() }
        return result
    }
}
