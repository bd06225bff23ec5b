import Tansu

/// Writes a new file, compressed if its name ends with .gz or .zst, that gets its name when it is complete.
///
/// - Throws: `CommandError` when the file cannot be written, or the library for its compression is not installed.
func writingFile<Result>(_ path: String, _ body: (OutputWriter) throws -> Result) throws -> Result {
    let encoder: (any StreamEncoder)? =
        path.hasSuffix(".gz") ? try GzipEncoder() : path.hasSuffix(".zst") ? try ZstdEncoder() : nil
    return try creatingDestination(path) {
        let file = try StagedFile(path: path)
        do {
            let writer = OutputWriter(descriptor: file.handle.fileDescriptor, encoder: encoder)
            let result = try body(writer)
            try writer.finish()
            try file.publish()
            return result
        } catch {
            file.discard()
            var failure = CommandError(error)
            if failure.path.isEmpty { failure.path = path }
            if failure.remedy.isEmpty { failure.remedy = "\"\(path)\" was not created" }
            throw failure
        }
    }
}
