import CTansu

extension EngineDatabase {
    /// Goes to the newest commit that another process has made; whether there was one.
    func refresh() throws -> Bool {
        var changed: CInt = 0
        try call { database in _ = try engineCall { tansu_refresh(database, &changed, nil, $0) } }
        return changed != 0
    }

    /// Makes every commit so far survive power loss.
    func sync() throws {
        try call { database in _ = try engineCall { tansu_sync(database, $0) } }
    }

    /// Writes changed index blocks.
    func checkpoint() throws {
        try call { database in _ = try engineCall { tansu_checkpoint(database, $0) } }
    }

    /// Reclaims the space of removed and replaced documents, and returns the engine's report.
    func compact(progress: (Database.Progress) throws -> Void) throws -> BSONDocument {
        try call { database in try engineTask(progress) { tansu_compact(database, $0, $1, $2, $3) } }
    }

    /// The engine's statistics.
    func stats() throws -> BSONDocument {
        try withEngineBuffer { buffer in
            try call { database in _ = try engineCall { tansu_stats(database, &buffer, $0) } }
            return BSONDocument(trustedBytes: Array(buffer.bytes))
        }
    }

    /// The response to a command, whether it succeeded or not.
    func executeJSON(_ command: String) throws -> String {
        guard !command.utf8.contains(0) else {
            throw TansuError(.invalidJSON, "The command has a NUL character; remove it")
        }
        return try call { database in
            var response: UnsafeMutablePointer<CChar>?
            defer { tansu_free(response) }
            let status = tansu_execute_json(database, command, &response)
            guard let response else {
                throw TansuError(
                    TansuError.Code(rawValue: status.rawValue), "The engine returned no response to the command")
            }
            return String(cString: response)
        }
    }
}
