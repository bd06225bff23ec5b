import CTansu

extension EngineTransaction {
    /// Runs `body`; when it throws, its changes of documents are rolled back and the transaction continues.
    ///
    /// Other tasks that share the transaction wait meanwhile: their changes would be rolled back with it.
    func savepoint<Result>(_ body: () throws -> Result) throws -> Result {
        try alone {
            try call { _, transaction in _ = try engineCall { tansu_savepoint_begin(transaction, $0) } }
            let result: Result
            do {
                result = try body()
            } catch {
                // The engine ends cursors that `body` left open. When the rollback fails, the next call of the
                // transaction reports it.
                try? call { _, transaction in _ = try engineCall { tansu_savepoint_roll_back(transaction, $0) } }
                throw error
            }
            try call { _, transaction in _ = try engineCall { tansu_savepoint_release(transaction, $0) } }
            return result
        }
    }
}
