import CTansu

extension Database {
    /// What a backup is.
    public enum BackupForm: Sendable, Hashable, CaseIterable {
        /// A database folder, which can be opened as it is.
        case folder

        /// One file, compressed and with checksums, for `restore(from:to:progress:)`.
        case file
    }

    /// What a backup or its restoring came to.
    public struct BackupReport: Sendable, Hashable {
        /// The number of the newest commit that is in it.
        public let sequence: Int

        /// How many documents it has.
        public let documents: Int

        /// How many bytes it takes; `nil` for one that was restored.
        public let bytes: Int?

        init(_ document: BSONDocument) {
            sequence = document["sequence"]?.intValue ?? 0
            documents = document["documents"]?.intValue ?? 0
            bytes = document["bytes"]?.intValue
        }
    }

    /// Copies the database as of one commit to a new folder or file, while readers and writers go on.
    ///
    /// What is at `path` afterwards is whole and on the disk or, after an error, not there.
    ///
    /// - Parameters:
    ///   - path: Where the backup shall be; nothing may be there yet.
    ///   - form: What the backup is.
    ///   - progress: Told, on this thread, how much is done. What it throws ends the backup, which leaves nothing
    ///     behind, and is thrown on.
    /// - Returns: What is in the backup.
    /// - Throws: ``TansuError`` with `.exists` (something is at `path`), `.full`, `.io`, `.corrupt`, `.busy` (a
    ///   compaction or another backup goes on) or `.closed`; what `progress` throws.
    @discardableResult
    public func backup(
        to path: String, form: BackupForm = .folder, progress: (Progress) throws -> Void = { _ in }
    ) throws -> BackupReport {
        try path.checkPath()
        let engineForm = form == .folder ? TANSU_BACKUP_FOLDER : TANSU_BACKUP_FILE
        return try engine.call { database in
            BackupReport(
                try engineTask(progress) { tansu_backup(database, path, engineForm, $0, $1, $2, $3) })
        }
    }

    /// Makes a new database out of a backup of either form, and checks all of it before it is there.
    ///
    /// - Parameters:
    ///   - backup: The backup's folder or file, which stays as it is.
    ///   - path: The new database's folder; nothing may be there yet.
    ///   - progress: Told, on this thread, how much is done. What it throws ends the work, which leaves nothing
    ///     behind, and is thrown on.
    /// - Returns: What is in the new database.
    /// - Throws: ``TansuError`` with `.notFound` (no backup), `.exists` (something is at `path`), `.corrupt` (the
    ///   backup is damaged; nothing was made), `.version`, `.full` or `.io`; what `progress` throws.
    @discardableResult
    public static func restore(
        from backup: String, to path: String, progress: (Progress) throws -> Void = { _ in }
    ) throws -> BackupReport {
        try backup.checkPath()
        try path.checkPath()
        return BackupReport(try engineTask(progress) { tansu_restore(backup, path, $0, $1, $2, $3) })
    }

    /// Copies all collections, documents and indexes, as of one commit, into a new database, and opens it.
    ///
    /// - Parameters:
    ///   - store: Where the new database keeps its documents; there may be none yet.
    ///   - options: How to open it.
    ///   - progress: Told, on this thread, how much is done. What it throws ends the work, which leaves nothing
    ///     behind, and is thrown on.
    /// - Returns: The new database.
    /// - Throws: ``TansuError`` with `.exists` (there is a database already), what opening and commits can throw, or
    ///   `.closed`; what `progress` throws.
    public func clone(
        to store: Store, options: Options = Options(), progress: (Progress) throws -> Void = { _ in }
    ) throws -> Database {
        let copy = try engine.call { database in
            try withEngineOptions(store, options) { choices in
                var copy: OpaquePointer?
                try withEngineProgress(progress) { tell, context in
                    _ = try engineCall { tansu_clone(database, choices, tell, context, &copy, $0) }
                }
                guard let copy else { throw TansuError(.misuse, "the engine opened nothing") }
                return copy
            }
        }
        return Database(EngineDatabase(copy, Instruments(options)))
    }
}
