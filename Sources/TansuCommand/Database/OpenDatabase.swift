import Foundation
import Tansu
import TansuBSON

/// A database that a command has opened, with its path for messages.
struct OpenDatabase {
    enum Mode {
        /// Read-only access to an existing database, as of now, whether or not another process writes it.
        case read
        /// The same, and reads see what the other process has committed since.
        case follow
        /// Read-write access to an existing database.
        case write
        /// Read-write access to a database, which is created if it does not exist.
        case create

        /// Whether nothing is changed.
        var isReading: Bool { self == .read || self == .follow }
    }

    let database: Database
    let path: String

    /// - Parameters:
    ///   - opening: How long to wait while another process has the database open, and the key. Without a key that of an
    ///     encrypted database is asked for on a terminal.
    ///   - keys: Where the key comes from, instead of `opening`.
    ///   - configure: Changes the other options of the database.
    init(
        path: String, mode: Mode, _ opening: OpeningOptions, keys: KeySource? = nil,
        configure: (inout Database.Options) -> Void = { _ in }
    ) throws {
        self.path = path
        var options = Database.Options(
            allowWriter: mode.isReading, follow: mode == .follow, mustExist: mode != .create,
            key: try (keys ?? opening.key.source).key(),
            lockTimeout: opening.timeout)
        configure(&options)
        do {
            do {
                database = try Database(path: path, options: options)
            } catch let error as TansuError where error.code == .encrypted && PassphrasePrompt.isPossible {
                options.key = .passphrase(try PassphrasePrompt.ask("Passphrase of \(path)"))
                database = try Database(path: path, options: options)
            }
        } catch {
            throw OpenDatabase.openingFailure(error, path: path, mode: mode, keys ?? opening.key.source)
        }
    }

    /// Opens a database, runs a closure and closes the database.
    ///
    /// A database that this call created is removed when the closure fails, or returns another exit code than success,
    /// and no document was saved.
    static func with<Result>(
        _ path: String, _ mode: Mode, _ opening: OpeningOptions, keys: KeySource? = nil,
        configure: (inout Database.Options) -> Void = { _ in }, _ body: (OpenDatabase) throws -> Result
    ) throws -> Result {
        let new = mode == .create ? NewDatabase(path: path) : nil
        if new != nil { try rejectDatabaseFolder(of: path) }
        let opened = try OpenDatabase(path: path, mode: mode, opening, keys: keys, configure: configure)
        let result: Result
        do {
            result = try body(opened)
            let hasFailed = (result as? CommandExitCode).map { $0 != .success } ?? false
            if hasFailed, try new?.discardIfEmpty(opened.database) ?? false { return result }
        } catch {
            var failure = CommandError(error)
            if (try? new?.discardIfEmpty(opened.database)) == true { throw failure }
            try? opened.database.close()
            // Results are printed after the commit: only the output is incomplete.
            if !mode.isReading, failure.isOfOutput, failure.remedy.isEmpty {
                failure.remedy = "the changes are committed"
            }
            throw failure
        }
        try opened.close()
        return result
    }

    /// The same for a closure after which cursors, transactions and feeds of JSON commands may be open: these end with
    /// the last reference to the database, and so does the database.
    static func withOpenHandles<Result>(
        _ target: some DatabaseTarget, _ mode: Mode, _ body: (OpenDatabase) throws -> Result
    ) throws -> Result {
        var result: Result?
        do {
            return try with(target, mode) { opened in
                do {
                    let value = try body(opened)
                    result = value
                    return value
                } catch var error as CommandError {
                    // Of a transaction that is open nothing is committed.
                    error.isOfOutput = false
                    throw error
                }
            }
        } catch let error as TansuError where error.code == .busy {
            guard let result else { throw error }
            return result
        } catch var error as CommandError {
            if error.code == TansuError.Code.readOnly.description, !mode.isReading, result == nil {
                error.remedy += (error.remedy.isEmpty ? "" : ", or ") + "open it with \"--readonly\""
            }
            throw error
        }
    }

    /// Closes the database after its command. Its commits are durable by then, so a checkpoint that fails is a warning:
    /// whoever took it for a failure of the command would run that again.
    private func close() throws {
        do {
            try database.close()
        } catch let error as TansuError where [.io, .full, .syncFailed].contains(error.code) {
            let location = "[\(error.code), \(path)]"
            writeError(
                "tansu: Warning: The changes are committed, but the checkpoint at the end failed, and the next opening "
                    + TextTable.printable("takes longer: \(error.message) \(location)"))
        }
    }

    /// A collection that must exist, so that a wrong name is an error instead of an empty result.
    func existingCollection(_ name: String) throws -> Database.Collection<BSONDocument> {
        try checkCollection(name)
        return try database.collection(name)
    }

    /// Drops a collection, and its revisions.
    func drop(_ name: String) throws {
        if try !SyncLayer.drop(name, in: database) { try database.dropCollection(name) }
    }

    /// - Throws: `CommandError` when a collection does not exist.
    func checkCollection(_ name: String) throws {
        guard try !hasCollection(name) else { return }
        let names = try database.collectionNames()
        throw CommandError(
            code: "NOT_FOUND", message: "Collection \"\(name)\" does not exist", path: path,
            remedy: names.isEmpty
                ? "the database has no collections"
                : "the database has " + names.map { "\"\($0)\"" }.joined(separator: ", "))
    }

    func isEncrypted() throws -> Bool { try database.stats()["encrypted"] != nil }

    /// Whether a collection exists. Names are compared by their bytes, as the engine does.
    func hasCollection(_ name: String) throws -> Bool {
        try Session(database).collectionInfo(name) != nil
    }

    private static func openingFailure(
        _ error: any Error, path: String, mode: Mode, _ keys: KeySource
    ) -> CommandError {
        guard let error = error as? TansuError else { return CommandError(error) }
        var failure = CommandError(error)
        if failure.path.isEmpty { failure.path = path }
        switch error.code {
        case .notFound:
            failure.message = "Database \"\(path)\" does not exist"
            failure.path = path
            failure.remedy = "check the path, or create it with \"tansu import\" or \"tansu save\""
        case .exists:
            let kind = FileKind(path: path)
            failure.message = "\"\(path)\" is \(kind.description), not a database"
            failure.path = path
            failure.remedy = kind.remedy(for: path) ?? "choose another folder, nothing was changed"
            failure.status = mode == .create ? .cannotCreate : .noInput
        case .locked:
            let reason = failure.message.prefix { $0 != ";" }.replacing("The database", with: "Database \"\(path)\"")
            failure.message = String(reason)
            failure.path = path
            failure.remedy = "close it there, or wait longer with \"--wait\""
        case .encrypted:
            failure.message = "Database \"\(path)\" is encrypted"
            failure.path = path
            failure.remedy = "give its key with one of \(keys.names)"
        case .io where failure.status == .noPermission:
            if mode.isReading { failure.code = error.code.description }
        case .io where mode == .create && !FileManager.default.fileExists(atPath: path):
            failure.status = .cannotCreate
        default: break
        }
        return failure
    }
}

// MARK: - Indexes

extension OpenDatabase {
    /// Creates an index and returns its name.
    /// - Parameters:
    ///   - keys: The paths with 1 for ascending and -1 for descending, or "text" for an index of words.
    ///   - text: What an index of words has beside its paths.
    ///   - progress: Receives the progress of the build.
    func createIndex(
        _ name: String?, on collection: String, keys: BSONDocument, unique: Bool = false, sparse: Bool = false,
        caseInsensitive: Bool = false, partialFilter: BSONDocument? = nil,
        maxEntries: Int? = nil, text: Database.TextIndexOptions? = nil,
        progress: (Database.Progress) throws -> Void = { _ in }
    ) throws -> String {
        let name = name ?? OpenDatabase.indexName(for: keys)
        if let text {
            try database.collection(collection).ensureTextIndex(
                name, onPaths: keys.map(\.key), options: text, partialFilter: partialFilter, progress: progress)
            return name
        }
        let paths = try keys.map { path, value -> Database.IndexKey in
            switch value.intValue {
            case 1: return Database.IndexKey(path, .ascending)
            case -1: return Database.IndexKey(path, .descending)
            default:
                throw CommandError(
                    code: "INVALID_INDEX", message: "Path \"\(path)\" has the direction \(value)", path: path,
                    remedy: "use 1 for ascending or -1 for descending")
            }
        }
        do {
            try database.collection(collection).ensureIndex(
                name, on: paths, unique: unique, sparse: sparse, caseInsensitive: caseInsensitive,
                partialFilter: partialFilter, maxEntries: maxEntries, progress: progress)
        } catch let error as TansuError {
            var failure = CommandError(error)
            for (word, option) in Self.indexOptions {
                failure.message = failure.message.replacing("option \"\(word)\"", with: "option \"\(option)\"")
            }
            throw failure
        }
        return name
    }

    /// The engine's names of the options, and those of the command line.
    private static let indexOptions = [
        ("unique", "--unique"), ("sparse", "--sparse"), ("caseInsensitive", "--case-insensitive"),
        ("partialFilter", "--partial-filter"), ("maxEntries", "--max-entries"),
    ]

    /// The default name of an index, the same as in the engine: "name_1_age_-1", "title_text".
    static func indexName(for keys: BSONDocument) -> String {
        keys.map { "\($0.key)_\($0.value.stringValue ?? "\($0.value.intValue ?? 0)")" }.joined(separator: "_")
    }

    /// The command line that creates an index with these keys.
    static func indexCommand(
        _ path: String, _ collection: String, keys: BSONDocument, key: KeyOptions? = nil
    ) -> String {
        let words = keys.map { ($0.value == .int32(-1) ? "-" : "") + $0.key }.joined(separator: ",")
        // Escapes of JSON stand for what a terminal would obey.
        let isPlain = TextTable.printable(words) == words && (try? JSONArguments.keys(words))?.bytes == keys.bytes
        let text = isPlain ? words : TextTable.printable(keys.json())
        let target = "\(shellQuoted(path)) \(shellQuoted(collection))"
        // No name has control characters, and the default one would.
        let name = TextTable.printable(words) == words ? "" : " --name suggested"
        return "\(ProgramName.current()) index create \(target) \(shellQuoted(text))\(name)\(key?.words ?? "")"
    }

    /// The descriptions of a collection's indexes as documents.
    func indexDocuments(of collection: String) throws -> [BSONDocument] {
        try existingCollection(collection).indexes().map { index in
            let keys = BSONDocument(
                index.keys.map { key in
                    (key.path, index.text != nil ? "text" : .int32(key.direction == .ascending ? 1 : -1))
                })
            var document: BSONDocument = [
                "name": .string(index.name), "keys": .document(keys), "unique": .bool(index.isUnique),
                "multikey": .bool(index.isMultikey), "entries": BSONValue(index.entries),
            ]
            // The engine too reports these options only when they are set.
            if index.isSparse { document["sparse"] = true }
            if index.isCaseInsensitive { document["caseInsensitive"] = true }
            if let filter = index.partialFilter { document["partialFilter"] = .document(filter) }
            document["maxEntries"] = index.maxEntries.map { BSONValue($0) }
            if !index.only.isEmpty { document["only"] = BSONValue(index.only.map { .string($0) }) }
            if !index.except.isEmpty { document["except"] = BSONValue(index.except.map { .string($0) }) }
            for (option, value) in index.text?.document ?? [:] { document[option] = value }
            return document
        }
    }
}

// MARK: - Replication

// What the library keeps of replicated collections is never loaded over, and their documents are such as can be replicated.
extension OpenDatabase {
    /// The names of the replicated collections.
    func replicatedCollections() throws -> Set<BytewiseText> {
        Set(
            try database.collection(CommandLimits.replicationStates).find().all().compactMap {
                $0["_id"]?.stringValue.map { BytewiseText($0) }
            })
    }

    /// Whether a collection is replicated.
    func isReplicated(_ collection: String) throws -> Bool {
        try CommandLimits.isReplicated(collection, in: database)
    }

    /// Has the documents that have no revision get one in the collections that a load made replicated: they may have been there
    /// before.
    ///
    /// - Parameter former: Those that were replicated before.
    func reviseFromStart(except former: Set<BytewiseText>) throws {
        guard try hasCollection(CommandLimits.replicationStates) else { return }
        let loaded: BSONDocument = ["_id": ["$nin": BSONValue(former.map { .string($0.text) })]]
        let states = try database.collection(CommandLimits.replicationStates)
        _ = try states.update(loaded, ["$set": ["enabledUpTo": ""]])
        let session = Session(database)
        for state in try states.find(loaded).all() {
            // The dump of a version that did not track changes.
            guard let name = state["_id"]?.stringValue, let instance = state["instance"]?.stringValue,
                try session.changeTracking(of: name) == nil
            else { continue }
            for tracked in [name, "tansu.attachments.\(name)"] {
                try session.setChangeTracking("tansu.changes.\(instance)", of: tracked)
            }
        }
    }

    /// - Throws: `CommandError` for a replicated collection, which cannot be replaced by another one.
    func rejectReplacing(_ collection: String) throws {
        guard try isReplicated(collection) else { return }
        throw CommandError(
            code: "REPLICATED",
            message: "The collection \"\(collection)\" is replicated: its history and attachments would be lost",
            path: path,
            remedy: "leave out \"--drop\", or drop it first with \"tansu collections drop\"; nothing was changed",
            status: .invalidInput)
    }
}
