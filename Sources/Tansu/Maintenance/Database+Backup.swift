extension Database {
    /// What a backup is.
    public enum BackupForm: Sendable, Hashable, CaseIterable {
        /// A database folder, which can be opened as it is.
        case folder

        /// One file, compressed and with checksums, for `restore(from:to:key:progress:)`.
        case file
    }

    /// How a backup is encrypted.
    public enum BackupEncryption: Sendable {
        /// As the database, if it is: the backup opens with the key that the database has at that moment. A memory or
        /// temporary database that is encrypted has no key that could open it: that is `.invalidState`.
        case asDatabase

        /// With a key of its own, whether or not the database is encrypted. Whoever has it cannot read the database with it.
        case key(DatabaseKey)

        /// Not, though the database may be.
        case none
    }

    /// The result of a backup or a restore.
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

    /// Copies a snapshot of the database to a new folder or file, while readers and writers continue.
    ///
    /// When it returns, the backup is complete and synced; after an error there is nothing at `path`.
    ///
    /// - Parameters:
    ///   - path: Where to write the backup; nothing may exist there.
    ///   - form: What the backup is.
    ///   - encryption: Whether and with which key it is encrypted.
    ///   - progress: Called on this thread with the progress. An error that it throws ends the backup and is rethrown;
    ///     nothing is left at `path`.
    /// - Returns: What is in the backup.
    /// - Throws: ``TansuError`` with `.exists` (something is at `path`), `.full`, `.io`, `.corrupt`, `.busy` (a
    ///   compaction or another backup is running), `.invalidArgument` (`path` is in the folder of a database) or `.closed`; what `progress` throws.
    @discardableResult
    public func backup(
        to path: String, form: BackupForm = .folder, encryption: BackupEncryption = .asDatabase,
        progress: (Progress) throws -> Void = { _ in }
    ) throws -> BackupReport {
        BackupReport(
            try engine.backup(to: path, asFile: form == .file, encryption: encryption, progress: progress))
    }

    /// Creates a new database from a backup of either form, and verifies all of it before it becomes visible.
    ///
    /// - Parameters:
    ///   - backup: The backup's folder or file, which is not changed.
    ///   - path: The folder of the new database; nothing may exist there.
    ///   - key: The key of an encrypted backup, which becomes that of the database; nothing is decrypted to the disk.
    ///   - progress: Called on this thread with the progress. An error that it throws ends the work and is rethrown;
    ///     nothing is left of the copy.
    /// - Returns: What is in the new database.
    /// - Throws: ``TansuError`` with `.notFound` (no backup), `.exists` (something is at `path`), `.corrupt` (the
    ///   backup is corrupt; nothing was created), `.version`, `.full`, `.io`, `.encrypted` (and there is no `key`),
    ///   `.wrongKey` or `.invalidArgument` (a `key`, and the backup is not encrypted); what `progress` throws.
    @discardableResult
    public static func restore(
        from backup: String, to path: String, key: DatabaseKey? = nil, progress: (Progress) throws -> Void = { _ in }
    ) throws -> BackupReport {
        BackupReport(try EngineDatabase.restore(from: backup, to: path, key: key, progress: progress))
    }

    /// Encrypts a database that is not encrypted, and that nobody has open.
    ///
    /// An encrypted copy is made beside it, takes its place in one step, and the old files are removed. Interrupted at any
    /// moment, the database is as before or encrypted, and the next call removes what is left of the other. Removed files
    /// can often be read from a disk, an SSD above all, until they are written over.
    ///
    /// - Parameters:
    ///   - path: The folder of the database.
    ///   - key: Its key from now on.
    ///   - progress: Called on this thread with the progress. An error that it throws ends the work and is rethrown.
    /// - Throws: ``TansuError`` with `.notFound`, `.locked` (it is open), `.encrypted` (it is encrypted), `.invalidState`
    ///   (the folder `set-aside` in it has files), `.invalidArgument` (the key), `.unsupported` (the file system cannot
    ///   exchange folders, or the engine has no ciphers), `.corrupt`, `.full` or `.io`.
    public static func encrypt(
        _ path: String, with key: DatabaseKey, progress: (Progress) throws -> Void = { _ in }
    ) throws {
        try EngineDatabase.convert(path, encrypt: true, with: key, progress: progress)
    }

    /// Makes an encrypted database one that is not, as ``encrypt(_:with:progress:)`` does the reverse.
    ///
    /// - Parameters:
    ///   - path: The folder of the database, which nobody has open.
    ///   - key: Its key.
    ///   - progress: Called on this thread with the progress. An error that it throws ends the work and is rethrown.
    /// - Throws: ``TansuError`` as ``encrypt(_:with:progress:)``; `.wrongKey`, and `.invalidArgument` when it is not
    ///   encrypted.
    public static func decrypt(
        _ path: String, with key: DatabaseKey, progress: (Progress) throws -> Void = { _ in }
    ) throws {
        try EngineDatabase.convert(path, encrypt: false, with: key, progress: progress)
    }

    /// Copies all collections, documents and indexes of one snapshot into a new database, and opens it.
    ///
    /// - Parameters:
    ///   - store: Where the new database keeps its documents; there may be none yet.
    ///   - options: How to open it.
    ///   - progress: Called on this thread with the progress. An error that it throws ends the work and is rethrown;
    ///     nothing is left of the copy.
    /// - Returns: The new database.
    /// - Throws: ``TansuError`` with `.exists` (there is a database already), what opening and commits can throw, or
    ///   `.closed`; what `progress` throws.
    public func clone(
        to store: Store, options: Options = Options(), progress: (Progress) throws -> Void = { _ in }
    ) throws -> Database {
        Database(try engine.clone(to: store, options: options, progress: progress))
    }
}

// MARK: - Async backup

// The async variants. When the task is cancelled, they stop soon and remove what they wrote.
extension Database {
    /// Copies a snapshot of the database to a new folder or file, while readers and writers continue.
    ///
    /// - Parameters:
    ///   - path: Where to write the backup; nothing may exist there.
    ///   - form: What the backup is.
    ///   - encryption: Whether and with which key it is encrypted.
    ///   - progress: Called on a thread of the database with the progress. An error that it throws ends the backup.
    /// - Returns: What is in the backup.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func backup(
        to path: String, form: BackupForm = .folder, encryption: BackupEncryption = .asDatabase,
        progress: @escaping @Sendable (Progress) throws -> Void = { _ in }
    ) async throws -> BackupReport {
        try await readers.run { flag in
            try self.backup(to: path, form: form, encryption: encryption) { state in
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
    ///   - key: The key of an encrypted backup, which becomes that of the database.
    ///   - progress: Called on a thread of its own with the progress. An error that it throws ends the work.
    /// - Returns: What is in the new database.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public static func restore(
        from backup: String, to path: String, key: DatabaseKey? = nil,
        progress: @escaping @Sendable (Progress) throws -> Void = { _ in }
    ) async throws -> BackupReport {
        try await WorkQueue.ofOneJob("tansu restore").run { flag in
            try restore(from: backup, to: path, key: key) { state in
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
