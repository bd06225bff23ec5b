import Foundation

/// Passes a task's cancellation to the thread that works for it.
///
/// `@unchecked Sendable`: the state is touched under the lock only.
package final class CancellationFlag: @unchecked Sendable {
    private let lock = NSLock()
    private var isCancelled = false
    private var stop: (@Sendable () -> Void)?

    func cancel() {
        let stop = lock.withLock {
            isCancelled = true
            return self.stop
        }
        stop?()
    }

    /// Throws a `CancellationError` once the task is cancelled.
    package func check() throws {
        if lock.withLock({ isCancelled }) { throw CancellationError() }
    }

    /// Runs `body`, and `stop` when the task is cancelled meanwhile. One at a time: not inside another.
    ///
    /// - Parameter stop: Makes `body` end soon. It may run on the cancelling thread just after `body` has ended.
    /// - Throws: What `body` throws; `CancellationError` when the task was cancelled before.
    func cancelling<Result>(with stop: @escaping @Sendable () -> Void, _ body: () throws -> Result) throws -> Result {
        lock.withLock { self.stop = stop }
        defer { lock.withLock { self.stop = nil } }
        try check()
        return try body()
    }
}

extension Error {
    /// What a task throws for this error: a `CancellationError` when the task's cancellation is what it came from.
    ///
    /// It checks the running task rather than the flag: a task counts as cancelled before its handlers run.
    var asSeenByTask: any Error {
        (self as? TansuError)?.code == .cancelled && Task.isCancelled ? CancellationError() : self
    }
}
