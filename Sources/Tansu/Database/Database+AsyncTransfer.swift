// The twins of Database+Dump.swift and Database+Load.swift; what is said there holds here.
extension Database {
    /// Writes collections as text, as of one commit: one JSON object a line, in which every type survives.
    ///
    /// - Parameters:
    ///   - options: What is in it.
    ///   - write: Takes the next bytes of the text, on a thread of the database's own.
    ///   - progress: Told on the same thread how many documents are written; what it throws ends the dump.
    /// - Returns: What is in the dump.
    /// - Throws: As the form that is not async, and `CancellationError`.
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

    /// Writes collections as text into a new file, as of one commit. After an error the file is not there.
    ///
    /// - Parameters:
    ///   - path: The file; nothing may be there yet.
    ///   - options: What is in it.
    ///   - progress: Told, on a thread of the database's own, how many documents are written.
    /// - Returns: What is in the dump.
    /// - Throws: As the form that is not async, and `CancellationError`.
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
    ///   - read: Gives the next bytes of the text, none at its end, on a thread of the database's own.
    ///   - progress: Told on the same thread how many lines are read; what it throws ends the loading.
    /// - Returns: What was loaded.
    /// - Throws: As the form that is not async, and `CancellationError`.
    @discardableResult
    public func load(
        _ options: LoadOptions = LoadOptions(), from read: @escaping @Sendable () throws -> [UInt8],
        progress: @escaping @Sendable (Progress) throws -> Void = { _ in }
    ) async throws -> LoadReport {
        try await Session(self).suspend(.write) { flag in
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
    ///   - progress: Told, on a thread of the database's own, how many lines are read.
    /// - Returns: What was loaded.
    /// - Throws: As the form that is not async, and `CancellationError`.
    @discardableResult
    public func load(
        from path: String, _ options: LoadOptions = LoadOptions(),
        progress: @escaping @Sendable (Progress) throws -> Void = { _ in }
    ) async throws -> LoadReport {
        try await Session(self).suspend(.write) { flag in
            try self.load(from: path, options) { state in
                try progress(state)
                try flag.check()
            }
        }
    }
}
