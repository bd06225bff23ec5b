import CTansu

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

    var scope: EngineScope { EngineScope(engine: database.engine, transaction: transaction) }

    /// Calls the engine.
    @discardableResult
    func call(
        _ kind: Kind,
        _ body: (OpaquePointer, OpaquePointer?, UnsafeMutablePointer<tansu_error>) throws -> tansu_status
    ) throws -> tansu_status {
        try check(kind)
        return try scope.call(body)
    }

    /// Runs `body` on the right thread and suspends the task meanwhile.
    func suspend<Result: Sendable>(
        _ kind: Kind, _ body: @escaping @Sendable (CancellationFlag) throws -> Result
    ) async throws -> Result {
        try check(kind)
        return try await (transactionLane ?? (kind == .write ? database.writers : database.readers)).run(body)
    }

    private func check(_ kind: Kind) throws {
        if kind == .write && transaction == nil { try database.refuseInsideOwnWrite() }
    }
}
