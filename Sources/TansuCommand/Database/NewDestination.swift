import Foundation
import Tansu

/// Runs an operation that creates a new file or folder, and converts the error that the path exists already.
func creatingDestination<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
    try rejectDatabaseFolder(of: path)
    let exists = CommandError(
        code: TansuError.Code.exists.description, message: "\"\(path)\" exists already", path: path,
        remedy: "choose another name, nothing was changed", status: .cannotCreate)
    // A link to nothing exists as well.
    if (try? FileManager.default.destinationOfSymbolicLink(atPath: path)) != nil { throw exists }
    let incomplete = path + ".tansu-part"
    do {
        return try Interruption.removing(incomplete, body)
    } catch let error as TansuError where error.code == .exists {
        throw exists
    } catch let error as TansuError {
        // It is called otherwise until it is complete.
        var failure = CommandError(error)
        failure.message = failure.message.replacing(incomplete, with: path)
        failure.path = failure.path.replacing(incomplete, with: path)
        throw failure
    } catch var error as CommandError where error.status == .interrupted {
        error.path = path
        error.remedy = "\"\(path)\" was not created"
        throw error
    }
}

/// - Throws: `CommandError` when a new file or folder would be in the folder of a database, whose files are the engine's.
func rejectDatabaseFolder(of path: String) throws {
    guard let folder = path.surroundingDatabase else { return }
    throw CommandError(
        code: "INVALID_ARGUMENT", message: "\"\(path)\" is in the folder of the database \"\(folder)\"",
        path: path, remedy: "choose a path outside of it, nothing was changed", status: .cannotCreate)
}
