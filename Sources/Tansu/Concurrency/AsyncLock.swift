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

/// Ends the waits of async writes, each when its time is over: the time counts from the call, whether the write then waits
/// for a thread or for the write lock.
///
/// `@unchecked Sendable`: everything that changes is touched under the lock only.
final class WaitLimit: @unchecked Sendable {
    private struct Wait {
        let ticket: Int
        let deadline: DispatchTime
        let end: @Sendable (TansuError) -> Void
    }

    private let lock = NSLock()
    private let timeout: Int
    /// In the order of their deadlines.
    private var waits: [Wait] = []
    private var lastTicket = 0
    /// When the next timer fires; `nil` without one. There is one for all waits.
    private var timer: DispatchTime?

    /// - Parameter timeout: How long a write waits, in milliseconds.
    init(timeout: UInt32) {
        self.timeout = Int(timeout)
    }

    /// Limits a wait; `remove` must follow.
    ///
    /// - Parameters:
    ///   - start: When the call was made.
    ///   - end: Ends the wait with an error; it does nothing when the wait is over.
    /// - Returns: What `remove` needs.
    func add(since start: DispatchTime, _ end: @escaping @Sendable (TansuError) -> Void) -> Int {
        lock.withLock {
            lastTicket += 1
            let deadline = start + .milliseconds(timeout)
            let index = waits.lastIndex { $0.deadline <= deadline }.map { $0 + 1 } ?? 0
            waits.insert(Wait(ticket: lastTicket, deadline: deadline, end: end), at: index)
            startTimer()
            return lastTicket
        }
    }

    /// The write that waited has ended.
    func remove(_ ticket: Int) {
        lock.withLock {
            if let index = waits.firstIndex(where: { $0.ticket == ticket }) { waits.remove(at: index) }
        }
    }

    /// Under the lock.
    private func startTimer() {
        guard let deadline = waits.first?.deadline, timer.map({ deadline < $0 }) ?? true else { return }
        timer = deadline
        DispatchQueue.global().asyncAfter(deadline: deadline) { [weak self] in self?.fire(deadline) }
    }

    private func fire(_ deadline: DispatchTime) {
        let late = lock.withLock {
            let now = DispatchTime.now()
            let late = Array(waits.prefix { $0.deadline <= now })
            waits.removeFirst(late.count)
            if timer == deadline { timer = nil }
            startTimer()
            return late
        }
        let error = TansuError(.busy, "Other writes have kept this one waiting for \(timeout) ms; try again")
        for wait in late { wait.end(error) }
    }
}
