import Foundation

/// A new file, compressed if its name ends with .gz or .zst, that gets its name when it is complete.
final class ExportFile {
    private let writer: OutputWriter
    private let path: String
    private let descriptor: Int32
    private var isComplete = false

    /// What the file is called until it is complete.
    private var incompletePath: String { path + ".tansu-part" }

    /// - Throws: `CommandError` when the file cannot be created, or the library for its compression is not installed.
    init(_ path: String) throws {
        self.path = path
        let encoder: (any StreamEncoder)? =
            path.hasSuffix(".gz") ? try GzipEncoder() : path.hasSuffix(".zst") ? try ZstdEncoder() : nil
        // One that was killed leaves it.
        unlink(path + ".tansu-part")
        descriptor = try createFile(path + ".tansu-part")
        writer = OutputWriter(descriptor: descriptor, encoder: encoder)
    }

    deinit {
        close(descriptor)
        if !isComplete { unlink(incompletePath) }
    }

    /// Writes the file by a closure, to the disk, and gives it its name. A second Ctrl-C removes it.
    func write<Result>(_ body: (OutputWriter) throws -> Result) throws -> Result {
        do {
            return try Interruption.removing(incompletePath) {
                let result = try body(writer)
                try complete()
                return result
            }
        } catch {
            var failure = CommandError(error)
            if failure.path.isEmpty { failure.path = path }
            if failure.remedy.isEmpty { failure.remedy = "\"\(path)\" was not created" }
            throw failure
        }
    }

    private func complete() throws {
        try writer.finish()
        let incomplete = incompletePath
        // A name that was taken meanwhile is kept.
        guard fsync(descriptor) == 0, link(incomplete, path) == 0 || errno != EEXIST && rename(incomplete, path) == 0
        else {
            throw CommandError(
                code: "IO", message: "Cannot write \"\(path)\": \(systemErrorText())", path: path,
                status: .inputOutput)
        }
        unlink(incomplete)
        isComplete = true
    }
}
