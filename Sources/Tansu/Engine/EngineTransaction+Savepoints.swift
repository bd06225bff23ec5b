import CTansu

extension EngineTransaction {
    /// Runs `body`; when it throws, what it did to documents is taken back and the transaction goes on.
    ///
    /// Others who share the transaction wait meanwhile: what they did would be taken back with it.
    func savepoint<Result>(_ body: () throws -> Result) throws -> Result {
        try alone {
            try call { _, transaction in _ = try engineCall { tansu_txn_savepoint(transaction, $0) } }
            let result: Result
            do {
                result = try body()
            } catch {
                // Cursors that `body` left open are ended by the engine; a transaction that cannot go back is of no
                // more use, which its next call tells.
                try? call { _, transaction in _ = try engineCall { tansu_txn_roll_back(transaction, $0) } }
                throw error
            }
            try call { _, transaction in _ = try engineCall { tansu_txn_release(transaction, $0) } }
            return result
        }
    }
}
