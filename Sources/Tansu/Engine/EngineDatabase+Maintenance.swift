import Foundation
#if canImport(CTansuSource)
import CTansuSource
#else
import CTansu
#endif

extension EngineDatabase {
    /// Goes to the newest commit that another process has made; whether there was one.
    func refresh() throws -> Bool {
        var changed: CInt = 0
        try call { database in _ = try engineCall { tansu_refresh(database, &changed, nil, $0) } }
        return changed != 0
    }

    /// Makes every commit so far survive power loss.
    func sync() throws {
        try call { database in _ = try engineCall { tansu_sync(database, $0) } }
    }

    /// Writes changed index blocks.
    func checkpoint() throws {
        try call { database in _ = try engineCall { tansu_checkpoint(database, $0) } }
    }

    /// Replaces the key.
    func rekey(to key: DatabaseKey) throws {
        try call { database in
            try key.withEngineKey { key in _ = try engineCall { tansu_rekey(database, key, $0) } }
            opensAgain(with: key)
        }
    }

    /// Replaces the key and the data key of an encrypted database.
    ///
    /// The key first: after an error the engine's database has one key for certain, with which it can be opened again.
    func rekeyEverything(to key: DatabaseKey, progress: (Database.Progress) throws -> Void) throws {
        try rekey(to: key)
        try call { database in
            try key.withEngineKey { key in
                try withEngineProgress(progress) { callback, context in
                    _ = try engineCall { tansu_rekey_everything(database, key, callback, context, $0) }
                }
            }
        }
    }

    /// Reclaims the space of removed and replaced documents, and returns the engine's report.
    func compact(progress: (Database.Progress) throws -> Void) throws -> BSONDocument {
        try call { database in try engineTask(progress) { tansu_compact(database, $0, $1, $2, $3) } }
    }

    /// The engine's statistics.
    func stats() throws -> BSONDocument {
        try call(Self.stats)
    }

    static func stats(_ database: OpaquePointer) throws -> BSONDocument {
        try report(database, tansu_stats)
    }

    /// The engine's report of what takes the space.
    func storage() throws -> BSONDocument {
        try call { try Self.report($0, tansu_storage) }
    }

    private static func report(
        _ database: OpaquePointer,
        _ make: (OpaquePointer?, UnsafeMutablePointer<tansu_buffer>?, UnsafeMutablePointer<tansu_error>?) ->
            tansu_status
    ) throws -> BSONDocument {
        try withEngineBuffer { buffer in
            _ = try engineCall { make(database, &buffer, $0) }
            return BSONDocument(trustedBytes: Array(buffer.bytes))
        }
    }

    /// The response to a command, whether it succeeded or not.
    func executeJSON(_ command: String) throws -> String {
        guard !command.utf8.contains(0) else {
            throw TansuError(.invalidJSON, "The command has a NUL character; remove it")
        }
        return try call { database in
            var response: UnsafeMutablePointer<CChar>?
            defer { tansu_free(response) }
            let status = tansu_execute_json(database, command, &response)
            guard let response else {
                throw TansuError(
                    TansuError.Code(rawValue: status.rawValue), "The engine returned no response to the command")
            }
            return String(cString: response)
        }
    }
}

// MARK: - Backup

extension EngineDatabase {
    /// Copies the database to a new folder or file, and returns the engine's report.
    ///
    /// - Parameter encryption: The key, or that there is none; without it as the database.
    func backup(
        to path: String, asFile: Bool, encryption: Database.BackupEncryption,
        progress: (Database.Progress) throws -> Void
    ) throws -> BSONDocument {
        let path = try path.destinationPath()
        let form = asFile ? TANSU_BACKUP_FILE : TANSU_BACKUP_FOLDER
        return try call { database in
            switch encryption {
            case .asDatabase:
                try engineTask(progress) { tansu_backup(database, path, form, $0, $1, $2, $3) }
            case .none:
                try engineTask(progress) { tansu_backup_plain(database, path, form, $0, $1, $2, $3) }
            case .key(let key):
                try key.withEngineKey { key in
                    try engineTask(progress) { tansu_backup_encrypted(database, path, form, key, $0, $1, $2, $3) }
                }
            }
        }
    }

    /// Makes a new database from a backup, and returns the engine's report.
    static func restore(
        from backup: String, to path: String, key: DatabaseKey?, progress: (Database.Progress) throws -> Void
    ) throws -> BSONDocument {
        let (backup, path) = (try backup.systemPath(), try path.destinationPath())
        guard let key else { return try engineTask(progress) { tansu_restore(backup, path, $0, $1, $2, $3) } }
        return try key.withEngineKey { key in
            try engineTask(progress) { tansu_restore_encrypted(backup, path, key, $0, $1, $2, $3) }
        }
    }

    /// Encrypts the files of a database, or the reverse.
    static func convert(
        _ path: String, encrypt: Bool, with key: DatabaseKey, progress: (Database.Progress) throws -> Void
    ) throws {
        let path = try path.systemPath()
        let convert = encrypt ? tansu_encrypt : tansu_decrypt
        try key.withEngineKey { key in
            try withEngineProgress(progress) { callback, context in
                _ = try engineCall { convert(path, key, callback, context, $0) }
            }
        }
    }

    /// Copies everything into a new database, and opens it.
    func clone(
        to store: Database.Store, options: Database.Options, progress: (Database.Progress) throws -> Void
    ) throws -> EngineDatabase {
        if case .persistent(let path) = store { _ = try path.destinationPath() }
        let recorder = CallRecorder(options)
        return try call { database in
            try withEngineOptions(store, options, recorder) { choices in
                var copy: OpaquePointer?
                try withEngineProgress(progress) { callback, context in
                    _ = try engineCall { tansu_clone(database, choices, callback, context, &copy, $0) }
                }
                guard let copy else { throw TansuError(.invalidState, "The engine returned no database") }
                return EngineDatabase(copy, options, recorder)
            }
        }
    }
}

// MARK: - Transfer

extension EngineDatabase {
    /// Writes the dump that the options describe, and returns the engine's report.
    func dump(
        _ options: BSONDocument, key: DatabaseKey?, into write: ([UInt8]) throws -> Void,
        progress: (Database.Progress) throws -> Void
    ) throws -> BSONDocument {
        // The engine calls back only during this call, so that the context can be a pointer to a local variable.
        try withoutActuallyEscaping(write) { write in
            var receiver = Receiver(write: write)
            do {
                return try withUnsafeMutablePointer(to: &receiver) { pointer in
                    try call { database in
                        try options.withUnsafeBytes { options in
                            let (take, options) = (Receiver.callback, tansu_document(options))
                            guard let key else {
                                return try engineTask(progress) {
                                    tansu_dump(database, nil, take, pointer, options, $0, $1, $2, $3)
                                }
                            }
                            return try key.withEngineKey { key in
                                try engineTask(progress) {
                                    tansu_dump_encrypted(database, nil, take, pointer, options, key, $0, $1, $2, $3)
                                }
                            }
                        }
                    }
                }
            } catch {
                throw receiver.error ?? error
            }
        }
    }

    /// Reads a dump as the options say, and returns the engine's report.
    func load(
        _ options: BSONDocument, key: DatabaseKey?, from read: () throws -> [UInt8],
        progress: (Database.Progress) throws -> Void
    ) throws -> BSONDocument {
        // As in `dump`.
        try withoutActuallyEscaping(read) { read in
            var source = Source(read: read)
            do {
                return try withUnsafeMutablePointer(to: &source) { pointer in
                    try call { database in
                        try options.withUnsafeBytes { options in
                            let (fill, options) = (Source.callback, tansu_document(options))
                            guard let key else {
                                return try engineTask(progress) {
                                    tansu_load(database, fill, pointer, options, $0, $1, $2, $3)
                                }
                            }
                            return try key.withEngineKey { key in
                                try engineTask(progress) {
                                    tansu_load_encrypted(database, fill, pointer, options, key, $0, $1, $2, $3)
                                }
                            }
                        }
                    }
                }
            } catch {
                throw source.error ?? error
            }
        }
    }
}

private struct Receiver {
    let write: ([UInt8]) throws -> Void
    /// What `write` threw.
    var error: (any Error)?

    /// What the engine calls with a pointer to a receiver.
    static let callback: tansu_write_bytes = { context, bytes, size in
        let receiver = context?.assumingMemoryBound(to: Receiver.self)
        let bytes = UnsafeRawBufferPointer(start: bytes, count: size)
        return receiver?.pointee.take(bytes) ?? false ? 1 : 0
    }

    /// Whether the bytes were accepted.
    mutating func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        do {
            try write(Array(bytes))
            return true
        } catch {
            self.error = error
            return false
        }
    }
}

private struct Source {
    let read: () throws -> [UInt8]
    /// What `read` returned and the engine has not consumed yet.
    var rest: ArraySlice<UInt8> = []
    /// What `read` threw.
    var error: (any Error)?

    /// What the engine calls with a pointer to a source.
    static let callback: tansu_read_bytes = { context, bytes, capacity in
        let source = context?.assumingMemoryBound(to: Source.self)
        let buffer = UnsafeMutableRawBufferPointer(start: bytes, count: capacity)
        return source?.pointee.fill(buffer) ?? -1
    }

    /// Fills the buffer; the number of bytes, 0 at the end, -1 on failure.
    mutating func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        do {
            if rest.isEmpty { rest = try read()[...] }
            let part = rest.prefix(buffer.count)
            buffer.copyBytes(from: part)
            rest = rest.dropFirst(part.count)
            return part.count
        } catch {
            self.error = error
            return -1
        }
    }
}

// MARK: - Verify

extension EngineDatabase {
    /// Checks everything that is stored, and returns the engine's report. With `.corrupt` the error has the report.
    func verify(progress: (Database.Progress) throws -> Void) throws -> BSONDocument {
        var report: BSONDocument?
        do {
            return try call { database in
                try engineTask(progress, failureReport: { report = $0 }) { tansu_verify(database, $0, $1, $2, $3) }
            }
        } catch var error as TansuError where error.code == .corrupt {
            error.report = report
            throw error
        }
    }

    /// Salvages a damaged database into a new one, and returns the engine's report.
    static func repair(
        from damaged: String, to path: String, progress: (Database.Progress) throws -> Void
    ) throws -> BSONDocument {
        let (damaged, path) = (try damaged.systemPath(), try path.destinationPath())
        return try engineTask(progress) { tansu_repair(damaged, path, $0, $1, $2, $3) }
    }
}

// MARK: - DestinationPath

extension String {
    /// The path as the system takes it, for a new file or folder.
    ///
    /// - Throws: ``TansuError`` with `.invalidArgument`: as `systemPath()`, or it is in the folder of a database, whose files
    ///   are the engine's.
    func destinationPath() throws -> String {
        let path = try systemPath()
        guard let folder = path.surroundingDatabase else { return path }
        throw TansuError(
            .invalidArgument,
            "\"\(self)\" is in the folder of the database \"\(folder)\", whose files are the engine's; choose a path outside of"
                + " it", context: self)
    }

    /// The folder of a database in which the file of this path is or would be.
    package var surroundingDatabase: String? {
        func has(_ name: String, _ folder: URL) -> Bool {
            FileManager.default.fileExists(atPath: folder.appendingPathComponent(name).path)
        }
        var folder = URL(fileURLWithPath: self).deletingLastPathComponent().resolvingSymlinksInPath()
        while folder.pathComponents.count > 1 {
            if has("MANIFEST", folder) && has("log", folder) { return folder.path }
            folder.deleteLastPathComponent()
        }
        return nil
    }
}
