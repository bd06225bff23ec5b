// The async variants of Database+Maintenance.swift.
extension Database {
    /// Closes the database, as the synchronous variant does: it waits for running calls, and ends background work, writes
    /// a checkpoint and syncs.
    ///
    /// - Throws: ``TansuError`` with `.busy` or `.memory` (nothing was closed), `.io` or `.full`; `CancellationError`.
    public func close() async throws {
        // On a thread of its own: all writers may be waiting for the transaction that keeps the database from closing.
        try await WorkQueue.ofOneJob("tansu close").run { _ in try self.close() }
    }

    /// Goes to the newest commit, where another process writes the database (``Options/allowWriter``).
    ///
    /// What is read from now on has all commits that are complete. Cursors and transactions keep what they see.
    ///
    /// - Returns: Whether the newest commit is another one now.
    /// - Throws: ``TansuError`` with `.io`, `.corrupt`, `.busy` or `.closed`; `CancellationError`.
    @discardableResult
    public func refresh() async throws -> Bool {
        try await readers.run { _ in try self.refresh() }
    }

    /// Makes every commit so far survive power loss, whatever the durability.
    ///
    /// - Throws: ``TansuError`` with `.io`, `.moved`, `.syncFailed` or `.closed`; `CancellationError`.
    public func sync() async throws {
        try await readers.run { _ in try self.sync() }
    }

    /// Writes changed index blocks now, so that the next opening has nothing to replay.
    ///
    /// - Throws: ``TansuError`` with `.io`, `.full`, `.readOnly` or `.closed`; `CancellationError`.
    public func checkpoint() async throws {
        try await writers.run { _ in try self.checkpoint() }
    }

    /// Statistics: path, store, sequence number of the newest commit, collections, sizes of the files.
    ///
    /// - Throws: ``TansuError`` with `.closed`; `CancellationError`.
    public func stats() async throws -> BSONDocument {
        try await readers.run { _ in try self.stats() }
    }

    /// Runs one command in JSON and returns the response in JSON. A command that has begun is not cancelled with its task.
    ///
    /// - Parameter command: The command.
    /// - Throws: ``TansuError`` with `.closed` or `.memory`; `CancellationError`.
    public func executeJSON(_ command: String) async throws -> String {
        try await Session(self).run(.write) { _ in try self.executeJSON(command) }
    }
}
