import Foundation

/// A lock for tasks: one holds it at a time, in the order of their calls, and those that wait block no thread.
///
/// `@unchecked Sendable`: the state is touched under the lock only.
final class AsyncLock: @unchecked Sendable {
    private struct Waiter {
        let ticket: Int
        /// Of the limit.
        let wait: Int
        let continuation: CheckedContinuation<Bool, any Error>
    }

    private let lock = NSLock()
    private var isTaken = false
    private var waiters: [Waiter] = []
    private var cancelledTickets: Set<Int> = []
    private var lastTicket = 0
    /// How long a task waits.
    private let limit: WaitLimit

    init(limit: WaitLimit) {
        self.limit = limit
    }

    /// Acquires the lock; `release()` must follow.
    ///
    /// - Returns: Whether it had to wait.
    /// - Throws: Without the lock: `CancellationError`; `TansuError` with `.busy` after the limit.
    @discardableResult
    func acquire() async throws -> Bool {
        let called = DispatchTime.now()
        let ticket = lock.withLock {
            lastTicket += 1
            return lastTicket
        }
        defer { lock.withLock { _ = cancelledTickets.remove(ticket) } }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { admit($0, ticket, since: called) }
        } onCancel: {
            end(ticket, CancellationError())
        }
    }

    /// Releases the lock to the next waiter.
    func release() {
        let next: Waiter? = lock.withLock {
            isTaken = !waiters.isEmpty
            return waiters.isEmpty ? nil : waiters.removeFirst()
        }
        guard let next else { return }
        limit.remove(next.wait)
        next.continuation.resume(returning: true)
    }

    private func admit(
        _ continuation: CheckedContinuation<Bool, any Error>, _ ticket: Int, since called: DispatchTime
    ) {
        let outcome: Result<Bool, any Error>? = lock.withLock {
            // The task may have been cancelled before there was anything to wake up.
            if cancelledTickets.contains(ticket) { return .failure(CancellationError()) }
            if isTaken {
                let wait = limit.add(since: called) { [weak self] error in self?.end(ticket, error) }
                waiters.append(Waiter(ticket: ticket, wait: wait, continuation: continuation))
                return nil
            }
            isTaken = true
            return .success(false)
        }
        if let outcome { continuation.resume(with: outcome) }
    }

    /// Ends a wait without the lock: it is cancelled, or its time is over.
    private func end(_ ticket: Int, _ error: any Error) {
        let waiter: Waiter? = lock.withLock {
            guard let index = waiters.firstIndex(where: { $0.ticket == ticket }) else {
                if error is CancellationError { cancelledTickets.insert(ticket) }
                return nil
            }
            return waiters.remove(at: index)
        }
        guard let waiter else { return }
        limit.remove(waiter.wait)
        waiter.continuation.resume(throwing: error)
    }
}
