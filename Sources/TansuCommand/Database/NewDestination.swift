import Foundation
import Tansu

/// Runs an operation that creates a new file or folder, and converts the error that the path exists already.
func creatingDestination<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
    try rejectDatabaseFolder(of: path)
    do {
        return try body()
    } catch let error as TansuError where error.code == .exists {
        throw CommandError(
            code: error.code.description, message: "\"\(path)\" exists already", path: path,
            remedy: "choose another name, nothing was changed", status: .cannotCreate)
    } catch var error as CommandError where error.status == .interrupted {
        error.path = path
        error.remedy = "\"\(path)\" was not created"
        throw error
    }
}

/// - Throws: `CommandError` when a new file or folder would be in the folder of a database, whose files are the engine's.
func rejectDatabaseFolder(of path: String) throws {
    let files = FileManager.default
    var folder = URL(fileURLWithPath: path).deletingLastPathComponent().resolvingSymlinksInPath()
    while folder.pathComponents.count > 1 {
        if ["MANIFEST", "log"].allSatisfy({ files.fileExists(atPath: folder.appendingPathComponent($0).path) }) {
            throw CommandError(
                code: "INVALID_ARGUMENT", message: "\"\(path)\" is in the folder of the database \"\(folder.path)\"",
                path: path, remedy: "choose a path outside of it, nothing was changed", status: .cannotCreate)
        }
        folder.deleteLastPathComponent()
    }
}
