import Foundation

/// Passes a task's cancellation to the thread that works for it.
///
/// `@unchecked Sendable`: the state is touched under the lock only.
package final class CancellationFlag: @unchecked Sendable {
    private let lock = NSLock()
    private var isCancelled = false
    private var stop: (@Sendable () -> Void)?
    private var wait = Wait.ahead

    /// The first wait for the write lock of a call.
    private enum Wait {
        case ahead
        case running(stop: @Sendable () -> Void)
        /// Its time is over, and it ends with this error, unless it has already ended.
        case late(TansuError)
        case over
    }

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

    /// Runs `body`, which waits for the write lock, and `stop` when the task is cancelled meanwhile or the time of its
    /// first wait is over. One at a time.
    ///
    /// - Throws: As `cancelling`; the error of `endWait`, also when `body` has succeeded although it was stopped.
    func waiting<Result>(with stop: @escaping @Sendable () -> Void, _ body: () throws -> Result) throws -> Result {
        try lock.withLock {
            switch wait {
            case .ahead: wait = .running(stop: stop)
            case .late(let error):
                wait = .over
                throw error
            case .running, .over: break
            }
        }
        let result: Result
        do {
            result = try cancelling(with: stop, body)
        } catch let error as TansuError where error.code == .cancelled {
            if let late = endedWait() { throw late }
            throw error
        } catch {
            _ = endedWait()
            throw error
        }
        // It may have succeeded just before it was stopped; what follows would then be cancelled.
        if let late = endedWait() { throw late }
        return result
    }

    /// Notes that the first wait has ended; its error when its time was over.
    private func endedWait() -> TansuError? {
        lock.withLock {
            defer { wait = .over }
            guard case .late(let error) = wait else { return nil }
            return error
        }
    }

    /// Ends the first wait for the write lock, which runs or is still to begin, with an error.
    func endWait(_ error: TansuError) {
        // It stops under the lock, so that it never stops what follows the wait.
        lock.withLock {
            switch wait {
            case .ahead: wait = .late(error)
            case .running(let stop):
                wait = .late(error)
                stop()
            case .late, .over: break
            }
        }
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
