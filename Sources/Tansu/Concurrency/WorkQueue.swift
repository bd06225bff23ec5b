import Foundation

/// A queue with threads of its own, for calls that block or run long, so that they do not block Swift's cooperative
/// pool. Jobs start in order, `width` of them at a time; threads start with work and end when idle.
///
/// Not a dispatch queue, for two reasons: its thread pool could be exhausted by waiting writers while the one that they
/// wait for needs a thread; and the engine detects deadlocks by the identity of the thread, which therefore must not
/// run other work in the middle of a transaction.
///
/// `@unchecked Sendable`: everything that changes is touched under `condition` only.
final class WorkQueue: @unchecked Sendable {
    private let name: String
    private let width: Int
    private let idleSeconds: TimeInterval?
    private let condition = NSCondition()
    private var jobs: [@Sendable () -> Void] = []
    private var threads = 0
    private var idleThreads = 0
    private var isStopped = false

    /// - Parameters:
    ///   - name: The name that the threads have in a debugger.
    ///   - width: The most threads.
    ///   - idleSeconds: How long a thread without work stays; until `stop()` when `nil`.
    init(_ name: String, width: Int, idleSeconds: TimeInterval? = 5) {
        self.name = name
        self.width = width
        self.idleSeconds = idleSeconds
    }

    /// Ends idle threads; queued and later work is still done.
    func stop() {
        condition.lock()
        isStopped = true
        condition.broadcast()
        condition.unlock()
    }

    /// Runs `job` on a thread of the queue, after those that were submitted before.
    func submit(_ job: @escaping @Sendable () -> Void) {
        condition.lock()
        defer { condition.unlock() }
        jobs.append(job)
        if idleThreads >= jobs.count {
            condition.signal()
        } else if threads < width {
            threads += 1
            startThread()
        }
    }

    private func startThread() {
        let thread = Thread { [self] in
            while let job = nextJob() { job() }
        }
        thread.name = name
        // A decoder goes as deep as its document is nested, for which the 512 KiB of macOS are little.
        thread.stackSize = 4 << 20
        thread.start()
    }

    private func nextJob() -> (@Sendable () -> Void)? {
        condition.lock()
        defer { condition.unlock() }
        let deadline = idleSeconds.map { Date(timeIntervalSinceNow: $0) }
        while jobs.isEmpty {
            var isTimeLeft = !isStopped
            if isTimeLeft {
                idleThreads += 1
                isTimeLeft = wait(until: deadline)
                idleThreads -= 1
            }
            if !isTimeLeft && jobs.isEmpty {
                threads -= 1
                return nil
            }
        }
        return jobs.removeFirst()
    }

    /// Whether it was woken up in time. (Foundation on Linux traps on `.distantFuture` as a limit.)
    private func wait(until deadline: Date?) -> Bool {
        if let deadline { return condition.wait(until: deadline) }
        condition.wait()
        return true
    }
}
