import Foundation
import Tansu
import TansuBSON

/// A database that a command has opened, with its path for messages.
struct OpenDatabase {
    enum Mode {
        /// Read-only access to an existing database, shared with other readers.
        case read
        /// Read-write access to an existing database.
        case write
        /// Read-write access to a database, which is created if it does not exist.
        case create
    }

    let database: Database
    let path: String

    init(path: String, mode: Mode) throws {
        self.path = path
        let options = Database.Options(readOnly: mode == .read, mustExist: mode != .create)
        do {
            database = try Database(path: path, options: options)
        } catch {
            throw OpenDatabase.openingFailure(error, path: path, mode: mode)
        }
    }

    /// Opens a database, runs a closure and closes the database. An error of closing is thrown as well.
    static func with<Result>(
        _ path: String, _ mode: Mode, _ body: (OpenDatabase) throws -> Result
    ) throws -> Result {
        let opened = try OpenDatabase(path: path, mode: mode)
        do {
            let result = try body(opened)
            try opened.database.close()
            return result
        } catch {
            try? opened.database.close()
            throw CommandError(error)
        }
    }

    /// A collection that must exist, so that a wrong name is an error instead of an empty result.
    func existingCollection(_ name: String) throws -> Database.Collection<BSONDocument> {
        let names = try database.collectionNames()
        guard names.contains(name) else {
            throw CommandError(
                code: "NOT_FOUND", message: "Collection \"\(name)\" does not exist", path: path,
                remedy: names.isEmpty
                    ? "the database has no collections"
                    : "the database has " + names.map { "\"\($0)\"" }.joined(separator: ", "))
        }
        return try database.collection(name)
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
            failure.message = "\"\(path)\" exists and is not a database"
            failure.path = path
            failure.remedy = "choose another folder, nothing was changed"
            failure.status = mode == .create ? .cannotCreate : .noInput
        case .locked:
            failure.message = "Database \"\(path)\" is locked by another process"
            failure.path = path
            failure.remedy = "close it there, or wait and try again"
        case .io where mode == .create && !FileManager.default.fileExists(atPath: path):
            failure.status = .cannotCreate
        default: break
        }
        return failure
    }
}
