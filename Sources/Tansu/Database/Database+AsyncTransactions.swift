extension Database {
    /// The write transaction whose closure suspends and in which this task, or one that it started, runs.
    @TaskLocal private static var enclosing: EngineTransaction?

    /// Throws `.busy` where waiting for the writer would be waiting for oneself.
    ///
    /// The engine sees that by its thread; a task inside a suspending closure may be on any.
    func refuseInsideOwnWrite() throws {
        if let enclosing = Self.enclosing, enclosing.engine === engine, enclosing.isOpen {
            throw TansuError(.busy, "this task is inside a write transaction; write through that transaction")
        }
    }

    /// Makes one atomic commit of everything that the closure does, on a thread of the database's own.
    ///
    /// When the task is cancelled before the closure's end, the wait for another writer ends, or the call inside the
    /// closure that goes on stops soon, and nothing is kept.
    ///
    /// - Parameters:
    ///   - durability: What the commit survives; the database's own when `nil`.
    ///   - body: What to do. Its error rolls everything back and is thrown on.
    /// - Returns: What the closure returns.
    /// - Throws: As the form that is not async, and `CancellationError`.
    @discardableResult
    public func write<Result: Sendable>(
        durability: Durability? = nil, _ body: @escaping @Sendable (Transaction) throws -> Result
    ) async throws -> Result {
        try refuseInsideOwnWrite()
        return try await writers.run { flag in try self.write(durability: durability, stoppedBy: flag, body) }
    }

    /// Makes one atomic commit of everything that a closure does that itself awaits.
    ///
    /// Other writers wait for as long as the closure takes: don't await anything slow in it. A task that the
    /// closure starts counts as inside; `Task.detached` does not. When the task is cancelled before the closure's
    /// end, the wait for another writer ends, or the call inside the closure that goes on stops soon, and nothing is
    /// kept.
    ///
    /// - Parameters:
    ///   - durability: What the commit survives; the database's own when `nil`.
    ///   - isolation: The actor on which the closure runs: the caller's.
    ///   - body: What to do. Its error rolls everything back and is thrown on.
    /// - Returns: What the closure returns.
    /// - Throws: As the form that is not async, and `CancellationError`.
    @discardableResult
    public func write<Result>(
        durability: Durability? = nil, isolation: isolated (any Actor)? = #isolation,
        _ body: (Transaction) async throws -> Result
    ) async throws -> Result {
        try refuseInsideOwnWrite()
        try await transactionGate.enter()
        defer { transactionGate.leave() }
        let transaction = try await transactions.run { flag in
            try self.begin(.write(durability), lane: self.transactions, stoppedBy: flag)
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

    /// Shows the closure one consistent moment of the database, on a thread of the database's own. When the task
    /// is cancelled, the call inside it that goes on stops soon.
    ///
    /// - Parameter body: What to read, through the transaction's collections.
    /// - Returns: What the closure returns.
    /// - Throws: The closure's error, `CancellationError`, or ``TansuError`` with `.closed`.
    public func read<Result: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws -> Result
    ) async throws -> Result {
        try await readers.run { flag in try self.read(stoppedBy: flag, body) }
    }

    /// Shows a closure that itself awaits one consistent moment of the database. When the task is cancelled, the
    /// call inside it that goes on stops soon.
    ///
    /// - Parameters:
    ///   - isolation: The actor on which the closure runs: the caller's.
    ///   - body: What to read, through the transaction's collections.
    /// - Returns: What the closure returns.
    /// - Throws: The closure's error, `CancellationError`, or ``TansuError`` with `.closed`.
    public func read<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: (Transaction) async throws -> Result
    ) async throws -> Result {
        let snapshot = try await readers.run { flag in
            try self.begin(.read, lane: self.readers, stoppedBy: flag)
        }
        let result: Result
        do {
            result = try await withTaskCancellationHandler {
                try await body(snapshot)
            } onCancel: {
                snapshot.cancel()
            }
        } catch {
            await readers.finish { snapshot.engine.abort() }
            throw error.asSeenByTask
        }
        await readers.finish { snapshot.engine.abort() }
        return result
    }
}
