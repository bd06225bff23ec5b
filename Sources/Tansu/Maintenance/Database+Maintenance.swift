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

    /// Replaces the key of an encrypted database, while others read and write.
    ///
    /// The data is not encrypted anew: a small file with its key is, at once and durably, so this takes as long as opening
    /// with the new key. From then on the database opens with the new key only; who has it open goes on.
    ///
    /// - Parameter key: The new key.
    /// - Throws: ``TansuError`` with `.invalidArgument` (the key), `.invalidState` (the database is not encrypted),
    ///   `.readOnly`, `.busy`, `.moved`, `.closed`, `.io` or `.full`: the old key is valid then, or the new one if only the last
    ///   sync failed.
    public func rekey(to key: DatabaseKey) throws {
        try engine.rekey(to: key)
    }

    /// Replaces the key of an encrypted database, and the key that its data is encrypted with.
    ///
    /// A compaction encrypts the whole log anew, and the index file is written anew, while others read and write. Who had
    /// the old key and an old copy of the file `KEY` cannot read the database any more. Interrupted at any moment, the
    /// new key opens the database, and the next call completes the change. Processes that have the database open to read
    /// must open it again.
    ///
    /// - Parameters:
    ///   - key: The new key; the one that the database has is fine, too.
    ///   - progress: Called with the number of bytes done; what it throws ends the change.
    /// - Throws: ``TansuError`` as `rekey(to:)` and `compact(progress:)`.
    public func rekeyEverything(
        to key: DatabaseKey, progress: (Progress) throws -> Void = { _ in }
    ) throws {
        try rejectInsideOwnWrite()
        try engine.rekeyEverything(to: key, progress: progress)
    }

    /// Statistics: path, store, sequence number of the newest commit, collections with their documents and indexes,
    /// sizes of the files.
    ///
    /// - Throws: ``TansuError`` with `.closed`.
    public func stats() throws -> BSONDocument {
        try engine.stats()
    }

    /// What takes the space: `segments` of the log with the bytes of living and dead documents, and `collections` with the
    /// bytes of their documents and, for each index, its `entries`, `blocks` and about how many `bytes` these take in
    /// the index file, and its `uses`: how many queries of this process have read it.
    ///
    /// It reads the inner blocks of all indexes, and so takes longer than `stats()`.
    ///
    /// - Throws: ``TansuError`` with `.closed`, `.io` or `.corrupt`.
    public func storage() throws -> BSONDocument {
        try engine.storage()
    }

    /// Runs one command in JSON and returns the response in JSON. The response to a command that fails is
    /// `{"ok": false, "error": …}`.
    ///
    /// - Parameter command: The command, such as `{"op": "count", "collection": "people"}`.
    /// - Throws: ``TansuError`` with `.closed`, `.invalidJSON` (a NUL character), `.memory`, or `.busy` inside a write
    ///   that awaits: there was no response.
    public func executeJSON(_ command: String) throws -> String {
        try rejectInsideOwnWrite()
        return try engine.executeJSON(command)
    }
}

// MARK: - Async maintenance

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

    /// Replaces the key of an encrypted database, as the synchronous variant does.
    ///
    /// - Parameter key: The new key.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func rekey(to key: DatabaseKey) async throws {
        try await writers.run { _ in try self.rekey(to: key) }
    }

    /// Replaces the key of an encrypted database, and the key that its data is encrypted with, as the synchronous variant
    /// does.
    ///
    /// - Parameters:
    ///   - key: The new key.
    ///   - progress: Called on a thread of the database with the number of bytes done.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func rekeyEverything(
        to key: DatabaseKey, progress: @escaping @Sendable (Progress) throws -> Void = { _ in }
    ) async throws {
        try await Session(self).run(.write) { flag in
            try self.rekeyEverything(to: key) { state in
                try progress(state)
                try flag.check()
            }
        }
    }

    /// Statistics: path, store, sequence number of the newest commit, collections, sizes of the files.
    ///
    /// - Throws: ``TansuError`` with `.closed`; `CancellationError`.
    public func stats() async throws -> BSONDocument {
        try await readers.run { _ in try self.stats() }
    }

    /// What takes the space: segments of the log, collections and indexes.
    ///
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func storage() async throws -> BSONDocument {
        try await readers.run { _ in try self.storage() }
    }

    /// Runs one command in JSON and returns the response in JSON. A command that has begun is not cancelled with its task.
    ///
    /// - Parameter command: The command.
    /// - Throws: ``TansuError`` with `.closed` or `.memory`; `CancellationError`.
    public func executeJSON(_ command: String) async throws -> String {
        try await Session(self).run(.write) { _ in try self.executeJSON(command) }
    }
}

// MARK: - Compact

extension Database {
    /// The result of a compaction.
    public struct CompactReport: Sendable, Hashable {
        /// How many bytes the files took before.
        public let bytesBefore: Int

        /// How many bytes they take now.
        public let bytesAfter: Int

        /// How many segments of the log were rewritten.
        public let segments: Int

        /// How many records were copied.
        public let records: Int

        init(_ document: BSONDocument) {
            bytesBefore = document["bytesBefore"]?.intValue ?? 0
            bytesAfter = document["bytesAfter"]?.intValue ?? 0
            segments = document["segments"]?.intValue ?? 0
            records = document["records"]?.intValue ?? 0
        }
    }

    /// Reclaims the space of removed and replaced documents and of unused attachments, while readers and writers continue.
    /// Documents that open cursors and transactions still see are kept until those end. Compaction also runs automatically in
    /// the background (see ``Options/compactionPercent``), and then leaves unused attachments to `removeUnusedAttachments()`.
    ///
    /// - Parameter progress: Called on this thread with the number of bytes done. An error that it throws ends the
    ///   work.
    /// - Returns: The space before and after.
    /// - Throws: ``TansuError`` with `.full`, `.io`, `.corrupt` (a corrupt file is left as it is), `.readOnly`, `.busy`
    ///   (a backup or another compaction is running) or `.closed`; what `progress` throws.
    @discardableResult
    public func compact(progress: (Progress) throws -> Void = { _ in }) throws -> CompactReport {
        try compact(check: {}, progress)
    }

    /// - Parameter check: Called before each transaction that removes bytes of attachments. Its error ends the work.
    private func compact(check: () throws -> Void, _ progress: (Progress) throws -> Void) throws -> CompactReport {
        try rejectInsideOwnWrite()
        _ = try BlobSweep.run(self, check: check)
        return CompactReport(try engine.compact(progress: progress))
    }

    /// Reclaims the space of removed and replaced documents, while readers and writers continue.
    ///
    /// - Parameter progress: Called on a thread of the database with the number of bytes done.
    /// - Returns: The space before and after.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func compact(
        progress: @escaping @Sendable (Progress) throws -> Void = { _ in }
    ) async throws -> CompactReport {
        try await Session(self).run(.write) { flag in
            try self.compact(check: flag.check) { state in
                try progress(state)
                try flag.check()
            }
        }
    }
}
