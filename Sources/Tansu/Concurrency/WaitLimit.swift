import Foundation

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
