import Foundation

extension WorkQueue {
    /// Runs `body` on the queue and suspends the calling task until it is done.
    ///
    /// A task that is cancelled before `body` began gets a `CancellationError` at once, and `body` never runs. A later
    /// cancellation is in the flag, for `body` to check or to stop with.
    func run<Result: Sendable>(_ body: @escaping @Sendable (CancellationFlag) throws -> Result) async throws -> Result {
        let flag = CancellationFlag()
        let job = Job<Result> { try body(flag) }
        do {
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Result, any Error>) in
                    if job.wait(with: continuation) { submit { job.run() } }
                }
            } onCancel: {
                flag.cancel()
                job.withdraw()
            }
        } catch {
            throw error.asSeenByTask
        }
    }

    /// Runs `body` on the queue even when the task is cancelled: it ends something that began.
    func finish<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            submit { continuation.resume(returning: body()) }
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

    /// Makes it never run, and continues the task with a `CancellationError`; does nothing once it runs.
    func withdraw() {
        guard case .waiting(_, let continuation) = end() else { return }
        continuation.resume(throwing: CancellationError())
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
