import CTansu

extension EngineDatabase {
    /// Copies the database to a new folder or file, and returns the engine's report.
    func backup(to path: String, asFile: Bool, progress: (Database.Progress) throws -> Void) throws -> BSONDocument {
        let path = try path.destinationPath()
        let form = asFile ? TANSU_BACKUP_FILE : TANSU_BACKUP_FOLDER
        return try call { database in
            try engineTask(progress) { tansu_backup(database, path, form, $0, $1, $2, $3) }
        }
    }

    /// Makes a new database from a backup, and returns the engine's report.
    static func restore(
        from backup: String, to path: String, progress: (Database.Progress) throws -> Void
    ) throws -> BSONDocument {
        let (backup, path) = (try backup.systemPath(), try path.destinationPath())
        return try engineTask(progress) { tansu_restore(backup, path, $0, $1, $2, $3) }
    }

    /// Copies everything into a new database, and opens it.
    func clone(
        to store: Database.Store, options: Database.Options, progress: (Database.Progress) throws -> Void
    ) throws -> EngineDatabase {
        if case .persistent(let path) = store { _ = try path.destinationPath() }
        return try call { database in
            try withEngineOptions(store, options) { choices in
                var copy: OpaquePointer?
                try withEngineProgress(progress) { callback, context in
                    _ = try engineCall { tansu_clone(database, choices, callback, context, &copy, $0) }
                }
                guard let copy else { throw TansuError(.invalidState, "The engine returned no database") }
                return EngineDatabase(copy, options)
            }
        }
    }
}
