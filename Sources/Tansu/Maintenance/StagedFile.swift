import Foundation

/// A file that is written under a temporary name, and gets its own name when it is complete.
///
/// The temporary name is the final one with ".tansu-part" added, as of backups. A lock keeps two writers with the same
/// target apart; the next writer replaces what a killed one left.
struct StagedFile {
    let path: String
    let handle: FileHandle

    private var temporaryPath: String { path + ".tansu-part" }

    /// Creates the empty file under its temporary name.
    ///
    /// - Throws: ``TansuError`` with `.exists` (something is at `path`), `.busy` (another call writes it), `.io`,
    ///   `.full`, `.readOnly` or `.invalidArgument` (such as a path in the folder of a database).
    init(path: String) throws {
        let path = try path.destinationPath()
        self.path = path
        try StagedFile.checkAbsent(path)
        let descriptor = createFile(path + ".tansu-part")
        guard descriptor >= 0 else { throw TansuError(creating: path, errno) }
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw TansuError(.busy, "Another call is writing \"\(path)\"; wait until it has ended", context: path)
        }
        // The writer that had the lock until now may have published it.
        try StagedFile.checkAbsent(path)
        guard ftruncate(descriptor, 0) == 0 else { throw TansuError(creating: path, errno) }
    }

    /// Syncs the file and gives it its name.
    ///
    /// - Throws: ``TansuError`` with `.exists`, `.io` or `.full`. Nothing is at `path` then.
    func publish() throws {
        try handle.synchronize()
        try StagedFile.checkAbsent(path)
        guard rename(temporaryPath, path) == 0 else { throw TansuError(creating: path, errno) }
        // A name that is lost takes the file along. Where folders can't be synced there is nothing to do.
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        if let folder = try? FileHandle(forReadingFrom: folder) { _ = fsync(folder.fileDescriptor) }
        try handle.close()
    }

    /// Removes the incomplete file.
    func discard() {
        unlink(temporaryPath)
        try? handle.close()
    }

    private static func checkAbsent(_ path: String) throws {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        throw TansuError(.exists, "The file \"\(path)\" exists; choose another name", context: path)
    }
}

extension TansuError {
    fileprivate init(creating path: String, _ number: Int32) {
        let code: Code =
            switch number {
            case ENOSPC, EDQUOT, EFBIG: .full
            case EROFS: .readOnly
            default: .io
            }
        self.init(code, "The file \"\(path)\" could not be created: \(String(cString: strerror(number)))", context: path, systemErrno: number)
    }
}

/// A file's descriptor, negative if it could not be made; apart because `Database.open` hides the system's.
private func createFile(_ path: String) -> Int32 {
    open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o666)
}
