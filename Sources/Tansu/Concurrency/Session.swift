/// Where collections and queries work: on their own at the newest commit, or inside a transaction; and on which
/// threads their async forms do.
struct Session: Sendable {
    /// Whether a call may have to wait for the transaction that is writing.
    enum Kind {
        case read
        case write
    }

    let database: Database
    let transaction: EngineTransaction?
    private let transactionLane: WorkLane?

    /// Every call on its own.
    init(_ database: Database) {
        self.database = database
        transaction = nil
        transactionLane = nil
    }

    /// Every call inside a transaction.
    init(_ database: Database, _ transaction: EngineTransaction, lane: WorkLane) {
        self.database = database
        self.transaction = transaction
        transactionLane = lane
    }

    /// The engine's calls that read.
    var reading: EngineScope { EngineScope(engine: database.engine, transaction: transaction) }

    /// The engine's calls that write. Throws `.busy` where one would wait for itself.
    func writing() throws -> EngineScope {
        if transaction == nil { try database.refuseInsideOwnWrite() }
        return reading
    }

    /// Runs `body` on the right thread and suspends the task meanwhile.
    func suspend<Result: Sendable>(
        _ kind: Kind, _ body: @escaping @Sendable (CancellationFlag) throws -> Result
    ) async throws -> Result {
        if kind == .write { _ = try writing() }
        return try await (transactionLane ?? (kind == .write ? database.writers : database.readers)).run(body)
    }

    /// The same for a call that may run long: it stops when the task is cancelled meanwhile, and then keeps nothing.
    func suspendStoppable<Result: Sendable>(
        _ kind: Kind, _ body: @escaping @Sendable (Session) throws -> Result
    ) async throws -> Result {
        try await suspend(kind) { flag in try stoppable(kind, flag, body) }
    }

    /// Runs `body` in a transaction of its own, which is what the engine can stop, or in the one that there is:
    /// that is stopped as a whole, by the task that began it.
    func stoppable<Result>(
        _ kind: Kind, _ flag: CancellationFlag, _ body: (Session) throws -> Result
    ) throws -> Result {
        if transaction != nil { return try body(self) }
        switch kind {
        case .read: return try database.read(stoppedBy: flag) { try body($0.session) }
        case .write: return try database.write(durability: nil, stoppedBy: flag) { try body($0.session) }
        }
    }
}
