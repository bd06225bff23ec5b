import Foundation

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
