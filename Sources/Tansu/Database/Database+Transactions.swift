extension Database {
    /// Makes one atomic commit of everything that the closure does through the transaction.
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
    /// One transaction writes at a time; others wait for it, readers do not. Inside the closure write through
    /// the transaction: a write of its own, or a `write` in a `write`, throws `.busy`, for it would wait for
    /// itself.
    ///
    /// - Parameters:
    ///   - durability: What the commit survives; the database's own when `nil`.
    ///   - body: What to do. Its error rolls everything back and is thrown on.
    /// - Returns: What the closure returns.
    /// - Throws: The closure's error; ``TansuError`` with `.busy`, `.readOnly`, `.failed`, `.closed`, `.cancelled`
    ///   where the transaction was, and what a commit can throw: `.full`, `.io`.
    @discardableResult
    public func write<Result>(
        durability: Durability? = nil, _ body: (Transaction) throws -> Result
    ) throws -> Result {
        try write(durability: durability, stoppedBy: nil, body)
    }

    /// Shows the closure one consistent moment of the database, whatever others commit meanwhile.
    ///
    /// - Parameter body: What to read, through the transaction's collections.
    /// - Returns: What the closure returns.
    /// - Throws: The closure's error, or ``TansuError`` with `.closed`; `.cancelled` where the transaction was.
    public func read<Result>(_ body: (Transaction) throws -> Result) throws -> Result {
        try read(stoppedBy: nil, body)
    }

    /// `write`, on the thread that works for a task: `flag` carries the task's cancellation.
    func write<Result>(
        durability: Durability?, stoppedBy flag: CancellationFlag?, _ body: (Transaction) throws -> Result
    ) throws -> Result {
        try refuseInsideOwnWrite()
        let transaction = try begin(.write(durability), lane: readers, stoppedBy: flag)
        let result: Result
        do {
            result = try transaction.run(body, stoppedBy: flag)
        } catch {
            transaction.engine.abort()
            throw error
        }
        try transaction.engine.commit()
        return result
    }

    /// `read`, on the thread that works for a task: `flag` carries the task's cancellation.
    func read<Result>(stoppedBy flag: CancellationFlag?, _ body: (Transaction) throws -> Result) throws -> Result {
        let snapshot = try begin(.read, lane: readers, stoppedBy: flag)
        defer { snapshot.engine.abort() }
        return try snapshot.run(body, stoppedBy: flag)
    }

    func begin(
        _ mode: EngineTransaction.Mode, lane: WorkLane, stoppedBy flag: CancellationFlag?
    ) throws -> Transaction {
        Transaction(self, try EngineTransaction(engine, mode, stoppedBy: flag), lane: lane)
    }
}

extension Database.Transaction {
    fileprivate func run<Result>(
        _ body: (Database.Transaction) throws -> Result, stoppedBy flag: CancellationFlag?
    ) throws -> Result {
        guard let flag else { return try body(self) }
        return try flag.stopping(with: cancel) { try body(self) }
    }
}
