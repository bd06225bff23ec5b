import CTansu

/// Runs one of the engine's long tasks and returns its report.
///
/// - Parameters:
///   - progress: Hears of it; what it throws ends the task and is thrown on.
///   - hearing: Given the report when there is one, also when the task failed.
@discardableResult
func engineTask(
    _ progress: (Database.Progress) throws -> Void, hearing: (BSONDocument) -> Void = { _ in },
    _ body: (
        tansu_task_progress, UnsafeMutableRawPointer, UnsafeMutablePointer<tansu_buffer>,
        UnsafeMutablePointer<tansu_error>
    ) throws -> tansu_status
) throws -> BSONDocument {
    try withEngineBuffer { buffer in
        do {
            try withEngineProgress(progress) { tell, context in
                _ = try engineCall { try body(tell, context, &buffer, $0) }
            }
        } catch {
            if !buffer.bytes.isEmpty { hearing(BSONDocument(trustedBytes: Array(buffer.bytes))) }
            throw error
        }
        return BSONDocument(trustedBytes: Array(buffer.bytes))
    }
}

extension String {
    /// Throws `.misuse` for a path that would not reach the engine whole.
    func checkPath() throws {
        if utf8.contains(0) {
            throw TansuError(.misuse, "a path cannot hold a NUL character", context: self)
        }
    }
}
