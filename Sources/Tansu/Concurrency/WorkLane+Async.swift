extension WorkLane {
    /// Runs `body` on the lane and suspends the calling task until it is done.
    ///
    /// A task that was cancelled before `body` began gets a `CancellationError` and `body` never runs; one
    /// that is cancelled later finds it in the flag, if `body` looks or has something there to stop.
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

    /// Runs `body` on the lane in any case, cancelled or not: it ends something that began.
    func finish<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            submit { continuation.resume(returning: body()) }
        }
    }
}

/// What a thread of a lane does once. It lets go of everything before the task goes on: otherwise the thread would
/// hold on to the database for an instant longer, and whoever dropped it could not open it again.
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
