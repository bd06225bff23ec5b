// The async variants of Database+Dump.swift and Database+Load.swift.
extension Database {
    /// Writes a snapshot of collections as text: one JSON object per line, which preserves every type.
    ///
    /// - Parameters:
    ///   - options: What is in it.
    ///   - write: Takes the next bytes of the text, on a thread of the database.
    ///   - progress: Called on the same thread with the number of documents written. An error that it throws ends the
    ///     dump.
    /// - Returns: What is in the dump.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func dump(
        _ options: DumpOptions = DumpOptions(), into write: @escaping @Sendable ([UInt8]) throws -> Void,
        progress: @escaping @Sendable (Progress) throws -> Void = { _ in }
    ) async throws -> DumpReport {
        try await readers.run { flag in
            try self.dump(options, into: write) { state in
                try progress(state)
                try flag.check()
            }
        }
    }

    /// Writes a snapshot of collections as text into a new file, which gets its name when it is complete.
    ///
    /// - Parameters:
    ///   - path: The file to write; nothing may exist there.
    ///   - options: What is in it.
    ///   - progress: Called on a thread of the database with the number of documents written.
    /// - Returns: What is in the dump.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func dump(
        to path: String, _ options: DumpOptions = DumpOptions(),
        progress: @escaping @Sendable (Progress) throws -> Void = { _ in }
    ) async throws -> DumpReport {
        try await readers.run { flag in
            try self.dump(to: path, options) { state in
                try progress(state)
                try flag.check()
            }
        }
    }

    /// Reads what `dump(_:into:progress:)` wrote, or plain JSON documents, one a line. What was committed before the
    /// task was cancelled stays.
    ///
    /// - Parameters:
    ///   - options: How it is read.
    ///   - read: Gives the next bytes of the text, none at its end, on a thread of the database.
    ///   - progress: Called on the same thread with the number of lines read. An error that it throws ends the load.
    /// - Returns: What was loaded.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func load(
        _ options: LoadOptions = LoadOptions(), from read: @escaping @Sendable () throws -> [UInt8],
        progress: @escaping @Sendable (Progress) throws -> Void = { _ in }
    ) async throws -> LoadReport {
        try await Session(self).run(.write) { flag in
            try self.load(options, from: read) { state in
                try progress(state)
                try flag.check()
            }
        }
    }

    /// Reads the file that `dump(to:_:progress:)` wrote, or a file of plain JSON documents, one a line. What was
    /// committed before the task was cancelled stays.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - options: How it is read.
    ///   - progress: Called on a thread of the database with the number of lines read.
    /// - Returns: What was loaded.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func load(
        from path: String, _ options: LoadOptions = LoadOptions(),
        progress: @escaping @Sendable (Progress) throws -> Void = { _ in }
    ) async throws -> LoadReport {
        try await Session(self).run(.write) { flag in
            try self.load(from: path, options) { state in
                try progress(state)
                try flag.check()
            }
        }
    }
}
