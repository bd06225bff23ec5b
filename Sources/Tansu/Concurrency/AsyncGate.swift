import Foundation

/// Lets one task in at a time, in the order in which they came, and holds no thread for those that wait.
///
/// `@unchecked Sendable`: the state is touched under the lock only.
final class AsyncGate: @unchecked Sendable {
    private struct Waiter {
        let ticket: Int
        let continuation: CheckedContinuation<Void, any Error>
    }

    private let lock = NSLock()
    private var isTaken = false
    private var waiters: [Waiter] = []
    private var cancelledTickets: Set<Int> = []
    private var lastTicket = 0

    /// Waits for its turn; `leave()` must follow. Throws a `CancellationError`, and then it must not.
    func enter() async throws {
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

    /// Lets the next one in.
    func leave() {
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
