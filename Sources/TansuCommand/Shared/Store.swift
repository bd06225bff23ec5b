import Foundation
import Tansu
import TansuBSON

/// An open database, and the one place where commands say how it is opened.
struct Store {
    enum Mode {
        /// To look only; others may look at the same time.
        case read
        /// To change what is there.
        case write
        /// To change it, or to make a new one.
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
            throw Store.openingFailure(error, path: path, mode: mode)
        }
    }

    /// Opens, lets the work be done, and closes; what closing reports counts as well.
    static func with<Result>(
        _ path: String, _ mode: Mode, _ body: (Store) throws -> Result
    ) throws -> Result {
        let store = try Store(path: path, mode: mode)
        do {
            let result = try body(store)
            try store.database.close()
            return result
        } catch {
            try? store.database.close()
            throw CommandFailure(error)
        }
    }

    /// The collection that must be there, so that a slip in its name does not look like an empty answer.
    func existingCollection(_ name: String) throws -> Database.Collection<BSONDocument> {
        let names = try database.collectionNames()
        guard names.contains(name) else {
            throw CommandFailure(
                code: "NOT_FOUND", message: "There is no collection \"\(name)\" in the database.",
                path: path,
                remedy: names.isEmpty
                    ? "It has none yet." : "It has: \(names.joined(separator: ", ")).")
        }
        return try database.collection(name)
    }

    private static func openingFailure(_ error: any Error, path: String, mode: Mode) -> CommandFailure {
        guard let error = error as? TansuError else { return CommandFailure(error) }
        var failure = CommandFailure(error)
        if failure.path.isEmpty { failure.path = path }
        switch error.code {
        case .notFound:
            failure.message = "There is no database."
            failure.path = path
            failure.remedy = "Check the path; `tansu import` and `tansu save` make a new one."
        case .exists:
            failure.message = "Something else is there, so no database can be."
            failure.path = path
            failure.remedy = "Choose another folder; nothing was changed in this one."
            failure.status = mode == .create ? .cannotCreate : .noInput
        case .locked:
            failure.message = "The database is open elsewhere."
            failure.path = path
            failure.remedy = "Close it there, or wait, and try again."
        case .io where mode == .create && !FileManager.default.fileExists(atPath: path):
            failure.status = .cannotCreate
        default: break
        }
        return failure
    }
}
