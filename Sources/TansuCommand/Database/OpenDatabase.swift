import Foundation
import Tansu
import TansuBSON

#if TansuSync
    import TansuSync
#endif

/// A database that a command has opened, with its path for messages.
struct OpenDatabase {
    enum Mode {
        /// Read-only access to an existing database, as of now, whether or not another process writes it.
        case read
        /// Read-write access to an existing database.
        case write
        /// Read-write access to a database, which is created if it does not exist.
        case create
    }

    let database: Database
    let path: String

    /// - Parameter timeout: How long to wait while another process has the database open.
    init(path: String, mode: Mode, waiting timeout: Duration) throws {
        self.path = path
        let options = Database.Options(allowWriter: mode == .read, mustExist: mode != .create, lockTimeout: timeout)
        do {
            database = try Database(path: path, options: options)
        } catch {
            throw OpenDatabase.openingFailure(error, path: path, mode: mode)
        }
    }

    /// Opens a database, runs a closure and closes the database.
    ///
    /// A database that this call created is removed when the closure fails, or returns another exit code than success,
    /// and no document was saved.
    static func with<Result>(
        _ path: String, _ mode: Mode, waiting timeout: Duration, _ body: (OpenDatabase) throws -> Result
    ) throws -> Result {
        let new = mode == .create ? NewDatabase(path: path) : nil
        if new != nil { try rejectDatabaseFolder(of: path) }
        let opened = try OpenDatabase(path: path, mode: mode, waiting: timeout)
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
            if mode != .read, failure.isOfOutput, failure.remedy.isEmpty {
                failure.remedy = "the changes are committed"
            }
            throw failure
        }
        try opened.close()
        return result
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
        #if TansuSync
            if let replicated = try? ReplicatedCollection.open(name, in: database, create: false) {
                return try replicated.drop()
            }
        #endif
        try database.dropCollection(name)
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

    /// Whether a collection exists. Names are compared by their bytes, as the engine does.
    func hasCollection(_ name: String) throws -> Bool {
        try Session(database).collectionInfo(name) != nil
    }

    private static func openingFailure(_ error: any Error, path: String, mode: Mode) -> CommandError {
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
        case .io where failure.status == .noPermission:
            if mode == .read { failure.code = error.code.description }
        case .io where mode == .create && !FileManager.default.fileExists(atPath: path):
            failure.status = .cannotCreate
        default: break
        }
        return failure
    }
}
