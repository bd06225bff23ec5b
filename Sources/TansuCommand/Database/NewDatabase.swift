import Foundation
import Tansu

/// A database that a command creates, and removes again when the command fails before it has saved a document.
struct NewDatabase {
    private let folder: URL
    private let hadFolder: Bool

    /// Looks at a path before the database is opened. Nil when there is a database already.
    init?(path: String) {
        folder = URL(fileURLWithPath: path).resolvingSymlinksInPath()
        let files = FileManager.default
        if files.fileExists(atPath: folder.appendingPathComponent("MANIFEST").path) { return nil }
        hadFolder = files.fileExists(atPath: folder.path)
    }

    /// Closes and removes the database when it has no document.
    ///
    /// - Returns: Whether it was closed and removed. The database is open otherwise.
    func discardIfEmpty(_ database: Database) throws -> Bool {
        guard try database.collections().allSatisfy({ $0.documents == 0 }) else { return false }
        // The folder is renamed while it is locked: a process that waits for the lock never loses what it saves.
        let files = FileManager.default
        let aside = folder.deletingLastPathComponent()
            .appendingPathComponent(".\(folder.lastPathComponent).\(UUID().uuidString).tansu-part")
        guard rename(folder.path, aside.path) == 0 else { return false }
        if hadFolder { try? files.createDirectory(at: folder, withIntermediateDirectories: false) }
        // Closing fails to write to the old path, as it should.
        try? database.close()
        try? files.removeItem(at: aside)
        return true
    }
}

/// Runs an operation that creates a new file or folder, and converts the error that the path exists already.
func creatingDestination<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
    try rejectDatabaseFolder(of: path)
    // A link to nothing exists as well.
    if isLink(path) { throw existing(path) }
    let incomplete = path + ".tansu-part"
    do {
        return try Interruption.removing(incomplete, body)
    } catch let error as TansuError where error.code == .exists {
        throw existing(path)
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

/// - Throws: `CommandError` when a new file would be in the folder of a database, or there is something at its path.
func checkNewFile(_ path: String) throws {
    try rejectDatabaseFolder(of: path)
    if isLink(path) || FileManager.default.fileExists(atPath: path) { throw existing(path) }
}

private func isLink(_ path: String) -> Bool {
    (try? FileManager.default.destinationOfSymbolicLink(atPath: path)) != nil
}

private func existing(_ path: String) -> CommandError {
    CommandError(
        code: TansuError.Code.exists.description, message: "\"\(path)\" exists already", path: path,
        remedy: "choose another name, nothing was changed", status: .cannotCreate)
}

/// - Throws: `CommandError` when a new file or folder would be in the folder of a database, whose files are the engine's.
func rejectDatabaseFolder(of path: String) throws {
    guard let folder = path.surroundingDatabase else { return }
    throw CommandError(
        code: "INVALID_ARGUMENT", message: "\"\(path)\" is in the folder of the database \"\(folder)\"",
        path: path, remedy: "choose a path outside of it, nothing was changed", status: .cannotCreate)
}
