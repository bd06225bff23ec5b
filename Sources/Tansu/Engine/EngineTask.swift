import Foundation
#if canImport(CTansuSource)
import CTansuSource
#else
import CTansu
#endif

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

/// Runs `body` with a callback and its context, through which the engine reports its progress.
///
/// An error that `progress` throws ends the engine's work, and is rethrown instead of the engine's error.
func withEngineProgress<Result>(
    _ progress: (Database.Progress) throws -> Void,
    _ body: (_ callback: tansu_progress, _ context: UnsafeMutableRawPointer) throws -> Result
) throws -> Result {
    // The engine calls back only during this call, so that the context can be a pointer to a local variable.
    try withoutActuallyEscaping(progress) { progress in
        var listener = ProgressListener(progress: progress)
        do {
            return try withUnsafeMutablePointer(to: &listener) { pointer in
                return try body(
                    { context, done, total in
                        let listener = context?.assumingMemoryBound(to: ProgressListener.self)
                        return listener?.pointee.report(done, total) ?? true ? 1 : 0
                    }, pointer)
            }
        } catch {
            throw listener.error ?? error
        }
    }
}

private struct ProgressListener {
    let progress: (Database.Progress) throws -> Void
    /// What `progress` threw.
    var error: (any Error)?

    /// Whether to continue.
    mutating func report(_ done: UInt64, _ total: UInt64) -> Bool {
        do {
            try progress(Database.Progress(done: Int(clamping: done), total: total == 0 ? nil : Int(clamping: total)))
            return true
        } catch {
            self.error = error
            return false
        }
    }
}

/// Cancels the running call on a handle of the engine, from any thread, and never after the handle was freed.
///
/// `@unchecked Sendable`: the handle is accessed under the lock only. It is a lock of its own, held briefly: that of
/// the cursor or transaction is held by the call that is to be cancelled.
final class EngineInterrupt: @unchecked Sendable {
    private let lock = NSLock()
    private let cancel: @Sendable (OpaquePointer?) -> Void
    private var handle: OpaquePointer?
    private var isRequested = false

    /// - Parameter cancel: The engine's call for this kind of handle.
    init(_ cancel: @escaping @Sendable (OpaquePointer?) -> Void) {
        self.cancel = cancel
    }

    /// From now on the handle can be cancelled.
    func begin(_ handle: OpaquePointer?) {
        lock.withLock { self.handle = handle }
    }

    /// From now on it cannot; called before the handle is freed.
    func end() {
        lock.withLock { handle = nil }
    }

    /// Cancels the handle; does nothing when there is none.
    func request() {
        lock.withLock {
            isRequested = true
            cancel(handle)
        }
    }

    /// Whether it was ever cancelled.
    var wasRequested: Bool { lock.withLock { isRequested } }
}
