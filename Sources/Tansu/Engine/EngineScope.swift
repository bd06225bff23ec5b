import CTansu

/// Where a call of the engine runs: on its own, or inside a transaction.
struct EngineScope: Sendable {
    let engine: EngineDatabase
    let transaction: EngineTransaction?

    /// Runs `body` with the database and the transaction (or `nil`), with an error to fill in.
    @discardableResult
    func call(
        _ body: (OpaquePointer, OpaquePointer?, UnsafeMutablePointer<tansu_error>) throws -> tansu_status
    ) throws -> tansu_status {
        if let transaction {
            return try transaction.call { database, handle in
                try engineCall { try body(database, handle, $0) }
            }
        }
        return try engine.call { database in
            try engineCall { try body(database, nil, $0) }
        }
    }
}
