import Foundation

/// A lock for tasks: one holds it at a time, in the order of their calls, and those that wait block no thread.
///
/// `@unchecked Sendable`: the state is touched under the lock only.
final class AsyncLock: @unchecked Sendable {
    private struct Waiter {
        let ticket: Int
        let deadline: DispatchTime
        let continuation: CheckedContinuation<Bool, any Error>
    }

    private let lock = NSLock()
    private var isTaken = false
    private var waiters: [Waiter] = []
    private var cancelledTickets: Set<Int> = []
    private var lastTicket = 0
    /// How long a task waits.
    private let timeout: Int
    /// A timer runs that looks for waiters whose time is over. There is one for all of them.
    private var isTimerRunning = false

    /// - Parameter timeout: How long a task waits, in milliseconds.
    init(timeout: UInt32) {
        self.timeout = Int(timeout)
    }

    /// Acquires the lock; `release()` must follow.
    ///
    /// - Returns: Whether it had to wait.
    /// - Throws: Without the lock: `CancellationError`; `TansuError` with `.busy` after the timeout.
    @discardableResult
    func acquire() async throws -> Bool {
        let ticket = lock.withLock {
            lastTicket += 1
            return lastTicket
        }
        defer { lock.withLock { _ = cancelledTickets.remove(ticket) } }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let deadline = DispatchTime.now() + .milliseconds(timeout)
                admit(Waiter(ticket: ticket, deadline: deadline, continuation: continuation))
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
        next?.continuation.resume(returning: true)
    }

    private func admit(_ waiter: Waiter) {
        let outcome: Result<Bool, any Error>? = lock.withLock {
            // The task may have been cancelled before there was anything to wake up.
            if cancelledTickets.contains(waiter.ticket) { return .failure(CancellationError()) }
            if isTaken {
                waiters.append(waiter)
                if !isTimerRunning { startTimer(until: waiter.deadline) }
                return nil
            }
            isTaken = true
            return .success(false)
        }
        if let outcome { waiter.continuation.resume(with: outcome) }
    }

    /// Under the lock.
    private func startTimer(until deadline: DispatchTime) {
        isTimerRunning = true
        DispatchQueue.global().asyncAfter(deadline: deadline) { [weak self] in self?.rejectLateWaiters() }
    }

    private func rejectLateWaiters() {
        let late: [Waiter] = lock.withLock {
            let now = DispatchTime.now()
            // They wait in the order of their deadlines.
            let late = Array(waiters.prefix { $0.deadline <= now })
            waiters.removeFirst(late.count)
            isTimerRunning = false
            if let next = waiters.first { startTimer(until: next.deadline) }
            return late
        }
        let error = TansuError(.busy, "Other transactions have held the write lock for \(timeout) ms; try again")
        for waiter in late { waiter.continuation.resume(throwing: error) }
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
