extension Database {
    /// Closes the database: ends background work, writes a checkpoint and syncs. A second call does nothing. Every other
    /// call then throws `.closed`, and so do loops over changes and observed queries.
    ///
    /// It waits for running calls, with the closures that they run: a query that is being read into an array, `forEach`,
    /// an update with its closure, the closure of `observe(_:)`. Calls that begin meanwhile throw `.closed`.
    ///
    /// It does not wait for what you keep open, and throws `.busy` at once: a `write` or `read` whose closure runs, a
    /// cursor, and a loop over the documents of a query. It throws `.busy` as well inside a running call, such as in the
    /// closure of an update or in a decoder, because it would wait for itself. Such a closure must not wait for another
    /// thread that closes the database: both would wait forever.
    ///
    /// - Throws: ``TansuError`` with `.busy` (nothing was closed), or `.io` or `.full` (the database is closed and commits
    ///   are durable, but the next opening takes longer).
    public func close() throws {
        do {
            try engine.close()
        } catch let error as TansuError where error.code == .busy {
            throw error
        } catch {
            stopThreads()
            throw error
        }
        stopThreads()
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
    /// - Throws: ``TansuError`` with `.io`, `.moved`, `.syncFailed` or `.closed`.
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
