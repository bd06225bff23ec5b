import Foundation

extension WorkQueue {
    /// Runs `body` on the queue and suspends the calling task until it is done.
    ///
    /// A task that is cancelled before `body` began gets a `CancellationError` at once, and `body` never runs. A later
    /// cancellation is in the flag, for `body` to check or to stop with.
    ///
    /// - Parameters:
    ///   - limit: How long a write waits for a thread and for the write lock; as long as it takes when `nil`.
    ///   - start: When the wait began, if that was before this call.
    ///   - body: What to run.
    /// - Throws: What `body` throws; `CancellationError`; ``TansuError`` with `.busy` after the limit, and with `.memory`
    ///   when there is no thread: then `body` never runs.
    func run<Result: Sendable>(
        within limit: WaitLimit? = nil, since start: DispatchTime? = nil,
        _ body: @escaping @Sendable (CancellationFlag) throws -> Result
    ) async throws -> Result {
        let flag = CancellationFlag()
        let job = Job<Result> { try body(flag) }
        let called = DispatchTime.now()
        var wait: Int?
        defer { if let wait { limit?.remove(wait) } }
        do {
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Result, any Error>) in
                    guard job.wait(with: continuation) else { return }
                    do {
                        let isQueued = try submit { job.run() }
                        // A write that gets a thread at once has the engine's limit, which begins then.
                        guard let limit, isQueued || start != nil else { return }
                        wait = limit.add(since: start ?? called) { error in
                            job.withdraw(error)
                            flag.endWait(error)
                        }
                    } catch {
                        job.withdraw(error)
                    }
                }
            } onCancel: {
                flag.cancel()
                job.withdraw(CancellationError())
            }
        } catch {
            throw error.asSeenByTask
        }
    }

    /// Runs `body` on the queue even when the task is cancelled: it ends something that began.
    func finish<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            let job = { @Sendable in continuation.resume(returning: body()) }
            // Without a thread it ends here: that may block a thread of the cooperative pool, but only once.
            do { try submit(job) } catch { job() }
        }
    }
}

/// What a thread of a queue runs once, unless it is withdrawn before. It releases everything before the task continues:
/// otherwise the thread would retain the database a little longer, and it could not be opened again yet.
///
/// `@unchecked Sendable`: the state is touched under the lock only.
private final class Job<Success: Sendable>: @unchecked Sendable {
    private enum State {
        case new(@Sendable () throws -> Success)
        case waiting(@Sendable () throws -> Success, CheckedContinuation<Success, any Error>)
        case over
    }

    private let lock = NSLock()
    private var state: State

    init(_ body: @escaping @Sendable () throws -> Success) {
        state = .new(body)
    }

    /// Makes the task wait; `false` when the job was withdrawn, so that there is nothing to wait for.
    func wait(with continuation: CheckedContinuation<Success, any Error>) -> Bool {
        let isWaiting = lock.withLock {
            guard case .new(let body) = state else { return false }
            state = .waiting(body, continuation)
            return true
        }
        if !isWaiting { continuation.resume(throwing: CancellationError()) }
        return isWaiting
    }

    /// Runs it and continues the task.
    func run() {
        guard let (result, continuation) = perform() else { return }
        continuation.resume(with: result)
    }

    /// Makes it never run, and continues the task with an error; does nothing once it runs.
    func withdraw(_ error: any Error) {
        guard case .waiting(_, let continuation) = end() else { return }
        continuation.resume(throwing: error)
    }

    private func end() -> State {
        lock.withLock {
            defer { state = .over }
            return state
        }
    }

    /// A function of its own: at its end nothing retains the body any more.
    private func perform() -> (Result<Success, any Error>, CheckedContinuation<Success, any Error>)? {
        guard case .waiting(let body, let continuation) = end() else { return nil }
        return (Result(catching: body), continuation)
    }
}
