import CTansu

extension EngineDatabase {
    /// Makes every commit so far survive power loss.
    func sync() throws {
        try call { database in _ = try engineCall { tansu_sync(database, $0) } }
    }

    /// Writes changed index blocks.
    func checkpoint() throws {
        try call { database in _ = try engineCall { tansu_checkpoint(database, $0) } }
    }

    /// The engine's figures.
    func stats() throws -> BSONDocument {
        try withEngineBuffer { buffer in
            try call { database in _ = try engineCall { tansu_stats(database, &buffer, $0) } }
            return BSONDocument(trustedBytes: Array(buffer.bytes))
        }
    }

    /// The answer to a command, whether it succeeded or not.
    func executeJSON(_ command: String) throws -> String {
        guard !command.utf8.contains(0) else {
            throw TansuError(.invalidJSON, "a command cannot hold a NUL character")
        }
        return try call { database in
            var response: UnsafeMutablePointer<CChar>?
            defer { tansu_free(response) }
            let status = tansu_execute_json(database, command, &response)
            guard let response else {
                throw TansuError(TansuError.Code(rawValue: status.rawValue), "the engine gave no answer to the command")
            }
            return String(cString: response)
        }
    }
}
