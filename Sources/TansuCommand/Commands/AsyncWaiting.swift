import Dispatch
import TansuBSON

/// Runs asynchronous code to its end, while the main thread waits.
func waiting(_ body: @escaping @Sendable () async throws -> Void) throws {
    let ended = DispatchSemaphore(value: 0)
    let failure = Locked<(any Error)?>(nil)
    Task {
        do { try await body() } catch { failure.withLock { $0 = error } }
        ended.signal()
    }
    ended.wait()
    if let error = failure.withLock({ $0 }) { throw error }
}
