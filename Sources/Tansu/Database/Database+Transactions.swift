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
