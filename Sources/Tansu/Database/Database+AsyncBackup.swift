// The twins of Database+Backup.swift; what is said there holds here. When the task is cancelled they stop soon and
// leave nothing behind.
extension Database {
    /// Copies the database as of one commit to a new folder or file, while readers and writers go on.
    ///
    /// - Parameters:
    ///   - path: Where the backup shall be; nothing may be there yet.
    ///   - form: What the backup is.
    ///   - progress: Told, on a thread of the database's own, how much is done; what it throws ends the backup.
    /// - Returns: What is in the backup.
    /// - Throws: As the form that is not async, and `CancellationError`.
    @discardableResult
    public func backup(
        to path: String, form: BackupForm = .folder,
        progress: @escaping @Sendable (Progress) throws -> Void = { _ in }
    ) async throws -> BackupReport {
        try await readers.run { flag in
            try self.backup(to: path, form: form) { state in
                try progress(state)
                try flag.check()
            }
        }
    }

    /// Makes a new database out of a backup of either form, and checks all of it before it is there.
    ///
    /// - Parameters:
    ///   - backup: The backup's folder or file, which stays as it is.
    ///   - path: The new database's folder; nothing may be there yet.
    ///   - progress: Told, on a thread of its own, how much is done; what it throws ends the work.
    /// - Returns: What is in the new database.
    /// - Throws: As the form that is not async, and `CancellationError`.
    @discardableResult
    public static func restore(
        from backup: String, to path: String, progress: @escaping @Sendable (Progress) throws -> Void = { _ in }
    ) async throws -> BackupReport {
        try await WorkLane("tansu restore", width: 1).run { flag in
            try restore(from: backup, to: path) { state in
                try progress(state)
                try flag.check()
            }
        }
    }

    /// Copies all collections, documents and indexes, as of one commit, into a new database, and opens it.
    ///
    /// - Parameters:
    ///   - store: Where the new database keeps its documents; there may be none yet.
    ///   - options: How to open it.
    ///   - progress: Told, on a thread of the database's own, how much is done; what it throws ends the work.
    /// - Returns: The new database.
    /// - Throws: As the form that is not async, and `CancellationError`.
    public func clone(
        to store: Store, options: Options = Options(),
        progress: @escaping @Sendable (Progress) throws -> Void = { _ in }
    ) async throws -> Database {
        try await readers.run { flag in
            try self.clone(to: store, options: options) { state in
                try progress(state)
                try flag.check()
            }
        }
    }
}
