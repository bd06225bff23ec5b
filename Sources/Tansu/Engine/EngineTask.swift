import CTansu
import Foundation

/// Runs one of the engine's long tasks and returns its report.
///
/// - Parameters:
///   - progress: Reports the progress; what it throws ends the task and is rethrown.
///   - failureReport: Receives the report of a task that failed, when there is one.
@discardableResult
func engineTask(
    _ progress: (Database.Progress) throws -> Void, failureReport: (BSONDocument) -> Void = { _ in },
    _ body: (
        tansu_progress, UnsafeMutableRawPointer, UnsafeMutablePointer<tansu_buffer>,
        UnsafeMutablePointer<tansu_error>
    ) throws -> tansu_status
) throws -> BSONDocument {
    try withEngineBuffer { buffer in
        do {
            try withEngineProgress(progress) { callback, context in
                _ = try engineCall { try body(callback, context, &buffer, $0) }
            }
        } catch {
            if !buffer.bytes.isEmpty { failureReport(BSONDocument(trustedBytes: Array(buffer.bytes))) }
            throw error
        }
        return BSONDocument(trustedBytes: Array(buffer.bytes))
    }
}

extension String {
    /// The path as the system takes it: `~` and `~name` at its beginning are a user's home, as in a shell.
    ///
    /// - Throws: ``TansuError`` with `.invalidArgument` for a path that would be truncated in C, or a user without home.
    func systemPath() throws -> String {
        if utf8.contains(0) {
            throw TansuError(.invalidArgument, "The path has a NUL character; remove it", context: self)
        }
        guard utf8.first == UInt8(ascii: "~") else { return self }
        let expanded = NSString(string: self).expandingTildeInPath
        guard expanded.utf8.first != UInt8(ascii: "~") else {
            throw TansuError(
                .invalidArgument, "The path begins with the home of a user that is not known; write \"./~\" for a name",
                context: self)
        }
        return expanded
    }
}
