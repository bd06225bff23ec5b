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
