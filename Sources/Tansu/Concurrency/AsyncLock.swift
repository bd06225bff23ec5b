import Foundation

/// A lock for tasks: one holds it at a time, in the order of their calls, and those that wait block no thread.
///
/// `@unchecked Sendable`: the state is touched under the lock only.
final class AsyncLock: @unchecked Sendable {
    private struct Waiter {
        let ticket: Int
        let continuation: CheckedContinuation<Void, any Error>
    }

    private let lock = NSLock()
    private var isTaken = false
    private var waiters: [Waiter] = []
    private var cancelledTickets: Set<Int> = []
    private var lastTicket = 0

    /// Acquires the lock; `release()` must follow. Throws a `CancellationError` without the lock.
    func acquire() async throws {
        let ticket = lock.withLock {
            lastTicket += 1
            return lastTicket
        }
        defer { lock.withLock { _ = cancelledTickets.remove(ticket) } }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                admit(Waiter(ticket: ticket, continuation: continuation))
            }
        } onCancel: {
            cancel(ticket)
        }
    }

    /// Releases the lock to the next waiter.
    func release() {
        let next: Waiter? = lock.withLock {
            isTaken = !waiters.isEmpty
            return waiters.isEmpty ? nil : waiters.removeFirst()
        }
        next?.continuation.resume()
    }

    private func admit(_ waiter: Waiter) {
        let outcome: Result<Void, any Error>? = lock.withLock {
            // The task may have been cancelled before there was anything to wake up.
            if cancelledTickets.contains(waiter.ticket) { return .failure(CancellationError()) }
            if isTaken {
                waiters.append(waiter)
                return nil
            }
            isTaken = true
            return .success(())
        }
        if let outcome { waiter.continuation.resume(with: outcome) }
    }

    private func cancel(_ ticket: Int) {
        let waiter: Waiter? = lock.withLock {
            guard let index = waiters.firstIndex(where: { $0.ticket == ticket }) else {
                cancelledTickets.insert(ticket)
                return nil
            }
            return waiters.remove(at: index)
        }
        waiter?.continuation.resume(throwing: CancellationError())
    }
}
