extension Database {
    /// Closes the database: ends background work, writes a checkpoint and syncs. Waits for running calls. A second call
    /// does nothing. Every other call then throws `.closed`, and so do loops over changes and observed queries.
    ///
    /// - Throws: ``TansuError`` with `.busy` (a transaction or cursor is open, and nothing was closed), or `.io` or
    ///   `.full` (the database is closed and commits are durable, but the next opening takes longer).
    public func close() throws {
        try engine.close()
    }

    /// Goes to the newest commit, where another process writes the database (``Options/allowWriter``).
    ///
    /// What is read from now on has all commits that are complete. Cursors and transactions keep what they see. The call is
    /// cheap when little has changed: it replays the new commits. Other databases always have their newest commit.
    ///
    /// - Returns: Whether the newest commit is another one now.
    /// - Throws: ``TansuError`` with `.io`, `.corrupt`, `.busy` or `.closed`; what could be read before still can.
    @discardableResult
    public func refresh() throws -> Bool {
        try engine.refresh()
    }

    /// Makes every commit so far survive power loss, whatever the durability: readers see all of them then.
    ///
    /// - Throws: ``TansuError`` with `.io`, `.syncFailed` or `.closed`.
    public func sync() throws {
        try engine.sync()
    }

    /// Writes changed index blocks now, so that the next opening has nothing to replay.
    ///
    /// - Throws: ``TansuError`` with `.io`, `.full`, `.readOnly` or `.closed`.
    public func checkpoint() throws {
        try engine.checkpoint()
    }

    /// Statistics: path, store, sequence number of the newest commit, collections with their documents and indexes,
    /// sizes of the files.
    ///
    /// - Throws: ``TansuError`` with `.closed`.
    public func stats() throws -> BSONDocument {
        try engine.stats()
    }

    /// Runs one command in JSON and returns the response in JSON. The response to a command that fails is
    /// `{"ok": false, "error": …}`.
    ///
    /// - Parameter command: The command, such as `{"op": "count", "collection": "people"}`.
    /// - Throws: ``TansuError`` with `.closed`, `.invalidJSON` (a NUL character), `.memory`, or `.busy` inside a write
    ///   that awaits: there was no response.
    public func executeJSON(_ command: String) throws -> String {
        try rejectInsideOwnWrite()
        defer { schemas.forget() }
        return try engine.executeJSON(command)
    }
}
