extension WorkLane {
    /// Runs `body` on the lane and suspends the calling task until it is done.
    ///
    /// A task that was cancelled before `body` began gets a `CancellationError` and `body` never runs; one
    /// that is cancelled later finds it in the flag, if `body` looks or has something there to stop.
    func run<Result: Sendable>(_ body: @escaping @Sendable (CancellationFlag) throws -> Result) async throws -> Result {
        let flag = CancellationFlag()
        do {
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Result, any Error>) in
                    submit {
                        continuation.resume(
                            with: Swift.Result {
                                try flag.check()
                                return try body(flag)
                            })
                    }
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
