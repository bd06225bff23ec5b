// The async variants of Database+Backup.swift. When the task is cancelled, they stop soon and remove what they wrote.
extension Database {
    /// Copies a snapshot of the database to a new folder or file, while readers and writers continue.
    ///
    /// - Parameters:
    ///   - path: Where to write the backup; nothing may exist there.
    ///   - form: What the backup is.
    ///   - progress: Called on a thread of the database with the progress. An error that it throws ends the backup.
    /// - Returns: What is in the backup.
    /// - Throws: As the synchronous variant, and `CancellationError`.
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

    /// Creates a new database from a backup of either form, and verifies all of it before it becomes visible.
    ///
    /// - Parameters:
    ///   - backup: The backup's folder or file, which is not changed.
    ///   - path: The folder of the new database; nothing may exist there.
    ///   - progress: Called on a thread of its own with the progress. An error that it throws ends the work.
    /// - Returns: What is in the new database.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public static func restore(
        from backup: String, to path: String, progress: @escaping @Sendable (Progress) throws -> Void = { _ in }
    ) async throws -> BackupReport {
        try await WorkQueue.ofOneJob("tansu restore").run { flag in
            try restore(from: backup, to: path) { state in
                try progress(state)
                try flag.check()
            }
        }
    }

    /// Copies all collections, documents and indexes of one snapshot into a new database, and opens it.
    ///
    /// - Parameters:
    ///   - store: Where the new database keeps its documents; there may be none yet.
    ///   - options: How to open it.
    ///   - progress: Called on a thread of the database with the progress. An error that it throws ends the work.
    /// - Returns: The new database.
    /// - Throws: As the synchronous variant, and `CancellationError`.
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
