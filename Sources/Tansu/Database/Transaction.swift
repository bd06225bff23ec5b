import Dispatch

extension Database {
    /// One transaction, inside the closure of `write` or `read`.
    ///
    /// Its collections work in it. After the end of the closure they and their cursors throw `.invalidState`. Several
    /// tasks may use it; their calls are serialized.
    ///
    /// To cancel a long synchronous call, such as a count or an update, from another thread, make it in a `read` or
    /// `write`, and call ``cancel()`` of its transaction on the other thread.
    ///
    /// ```swift
    /// let count = try db.read { tx in
    ///     stopButton.onPress { tx.cancel() }
    ///     return try tx.collection("people").count(["name": ["$regex": "x"]])
    /// }
    /// ```
    public final class Transaction: Sendable {
        let engine: EngineTransaction
        package let session: Session

        init(_ database: Database, _ engine: EngineTransaction, queue: WorkQueue) {
            self.engine = engine
            session = Session(database, engine, queue: queue)
        }

        /// Cancels it, from any thread: the running call and every later one throw `.cancelled` (a long call soon), and
        /// so does the `read` or `write` itself at its end; a `write` then rolls back.
        ///
        /// It may be called at any time. A commit that has begun is not cancelled.
        public func cancel() {
            engine.cancel()
        }

        /// Checks documents by their checksums where they are read from now on, for copies of them: one that is not intact is
        /// an error then. Other reads trust what was written.
        package func checkDocuments() throws { try engine.checkDocuments() }

        /// Runs the closure in a savepoint: when it throws, its changes of documents are rolled back, and the
        /// transaction continues if the error is caught.
        ///
        /// For example:
        ///
        /// ```swift
        /// try db.write { tx in
        ///     let people = try tx.collection("people")
        ///     for order in orders {
        ///         do {
        ///             try tx.savepoint { try book(order, in: people) }
        ///         } catch { rejected.append(order) }
        ///     }
        /// }
        /// ```
        ///
        /// Savepoints can be nested. Inside, creating and dropping indexes, and dropping and renaming collections,
        /// throws `.invalidState`: those cannot be rolled back. Tasks that share the transaction wait for the end of
        /// the closure.
        ///
        /// - Parameter body: What to do, through the transaction's collections.
        /// - Returns: What the closure returns.
        /// - Throws: The closure's error; ``TansuError`` with `.readOnly` (in a `read`) or `.invalidState` (after the
        ///   end).
        public func savepoint<Result>(_ body: () throws -> Result) throws -> Result {
            try engine.savepoint(body)
        }
    }
}

// MARK: - Database: transactions

extension Database {
    /// Runs the closure in a write transaction, and commits everything that it did atomically.
    ///
    /// For example:
    ///
    /// ```swift
    /// try db.write { tx in
    ///     try tx.collection("people").save(["_id": 1, "name": "mike"])
    ///     try tx.collection("log").save(["added": 1])
    /// }
    /// ```
    ///
    /// There is one write transaction at a time; other writers wait for it, readers do not. Inside the closure, write
    /// through the transaction: any other write throws `.busy`, because it would wait for this one.
    ///
    /// - Parameters:
    ///   - durability: What the commit survives; the database's own when `nil`.
    ///   - body: The closure. Its error rolls everything back and is rethrown.
    /// - Returns: What the closure returns.
    /// - Throws: The closure's error; ``TansuError`` with `.busy`, `.readOnly`, `.syncFailed`, `.closed`, `.cancelled`
    ///   where the transaction was, and what a commit can throw: `.full`, `.io`, `.moved`.
    @discardableResult
    public func write<Result>(
        durability: Durability? = nil, _ body: (Transaction) throws -> Result
    ) throws -> Result {
        try write(durability: durability, cancelledBy: nil, body)
    }

    /// Runs the closure in a read transaction: it sees one snapshot of the database, whatever others commit meanwhile.
    ///
    /// - Parameter body: What to read, through the transaction's collections.
    /// - Returns: What the closure returns.
    /// - Throws: The closure's error, or ``TansuError`` with `.closed`; `.cancelled` where the transaction was.
    public func read<Result>(_ body: (Transaction) throws -> Result) throws -> Result {
        try read(cancelledBy: nil, body)
    }

    /// `write` on the thread that works for a task: `flag` has the task's cancellation.
    package func write<Result>(
        durability: Durability?, cancelledBy flag: CancellationFlag?, _ body: (Transaction) throws -> Result
    ) throws -> Result {
        try performWrite(durability, for: .user, cancelledBy: flag, body)
    }

    /// `write` as a part of a call of the library: closing waits for the call, and its transaction does not count as
    /// open.
    package func writeInCall<Result>(
        cancelledBy flag: CancellationFlag? = nil, _ body: (Transaction) throws -> Result
    ) throws -> Result {
        try engine.call { _ in try performWrite(nil, for: .call, cancelledBy: flag, body) }
    }

    private func performWrite<Result>(
        _ durability: Durability?, for holder: EngineDatabase.Holder, cancelledBy flag: CancellationFlag?,
        _ body: (Transaction) throws -> Result
    ) throws -> Result {
        try rejectInsideOwnWrite()
        let transaction = try begin(.write(durability), for: holder, queue: readers, cancelledBy: flag)
        let result: Result
        do {
            result = try transaction.runBody(body, cancelledBy: flag)
        } catch {
            transaction.engine.abort()
            throw error
        }
        try transaction.engine.commit()
        return result
    }

    /// `read` on the thread that works for a task: `flag` has the task's cancellation.
    func read<Result>(
        cancelledBy flag: CancellationFlag?, _ body: (Transaction) throws -> Result
    ) throws -> Result {
        try performRead(for: .user, cancelledBy: flag, tracking: nil, body)
    }

    /// `read` as a part of a call of the library: closing waits for the call, and its transaction does not count as
    /// open.
    ///
    /// - Parameter reads: Receives what is read.
    func readInCall<Result>(
        cancelledBy flag: CancellationFlag? = nil, tracking reads: ReadSet? = nil,
        _ body: (Transaction) throws -> Result
    ) throws -> Result {
        try engine.call { _ in try performRead(for: .call, cancelledBy: flag, tracking: reads, body) }
    }

    private func performRead<Result>(
        for holder: EngineDatabase.Holder, cancelledBy flag: CancellationFlag?, tracking reads: ReadSet?,
        _ body: (Transaction) throws -> Result
    ) throws -> Result {
        let snapshot = try begin(.read, for: holder, queue: readers, cancelledBy: flag, tracking: reads)
        defer { snapshot.engine.abort() }
        let result = try snapshot.runBody(body, cancelledBy: flag)
        try snapshot.engine.checkCancellation()
        return result
    }

    func begin(
        _ mode: EngineTransaction.Mode, for holder: EngineDatabase.Holder = .user, queue: WorkQueue,
        cancelledBy flag: CancellationFlag?, tracking reads: ReadSet? = nil
    ) throws -> Transaction {
        let transaction = try EngineTransaction(engine, mode, for: holder, cancelledBy: flag, tracking: reads)
        return Transaction(self, transaction, queue: queue)
    }
}

extension Database.Transaction {
    fileprivate func runBody<Result>(
        _ body: (Database.Transaction) throws -> Result, cancelledBy flag: CancellationFlag?
    ) throws -> Result {
        guard let flag else { return try body(self) }
        return try flag.cancelling(with: cancel) { try body(self) }
    }
}

// MARK: - Database: async transactions

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
