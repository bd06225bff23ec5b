extension WorkQueue {
    /// Runs `body` on the queue and suspends the calling task until it is done.
    ///
    /// A task that was cancelled before `body` began gets a `CancellationError`, and `body` never runs. A later
    /// cancellation is in the flag, for `body` to check or to stop with.
    func run<Result: Sendable>(_ body: @escaping @Sendable (CancellationFlag) throws -> Result) async throws -> Result {
        let flag = CancellationFlag()
        let job = Job<Result> {
            try flag.check()
            return try body(flag)
        }
        do {
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Result, any Error>) in
                    submit { continuation.resume(with: job.run()) }
                }
            } onCancel: {
                flag.cancel()
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

/// What a thread of a queue runs once. It releases everything before the task continues: otherwise the thread would
/// retain the database a little longer, and it could not be opened again yet.
///
/// `@unchecked Sendable`: only the thread that runs it touches it, once.
private final class Job<Success: Sendable>: @unchecked Sendable {
    private var body: (@Sendable () throws -> Success)?

    init(_ body: @escaping @Sendable () throws -> Success) {
        self.body = body
    }

    func run() -> Result<Success, any Error> {
        defer { body = nil }
        guard let body else { return .failure(CancellationError()) }
        return Result(catching: body)
    }
}
