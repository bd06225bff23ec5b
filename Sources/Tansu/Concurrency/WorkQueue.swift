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
    /// Starts a thread, or throws why there is none.
    typealias ThreadStart = @Sendable (_ name: String, _ body: @escaping @Sendable () -> Void) throws -> Void

    private let name: String
    private let width: Int
    private let idleSeconds: TimeInterval?
    private let startThread: ThreadStart
    private let condition = NSCondition()
    private var jobs: [@Sendable () -> Void] = []
    private var threads = 0
    /// The threads that run a job. The others are idle or begin.
    private var busyThreads = 0
    private var hasStopped = false

    /// - Parameters:
    ///   - name: The name that the threads have in a debugger.
    ///   - width: The most threads.
    ///   - idleSeconds: How long a thread without work stays; until `stop()` when `nil`.
    ///   - startThread: Starts the threads.
    init(
        _ name: String, width: Int, idleSeconds: TimeInterval? = 5,
        startThread: @escaping ThreadStart = WorkerThread.start
    ) {
        self.name = name
        self.width = width
        self.idleSeconds = idleSeconds
        self.startThread = startThread
    }

    /// A queue for one job, whose thread ends with it.
    static func ofOneJob(_ name: String) -> WorkQueue { WorkQueue(name, width: 1, idleSeconds: 0) }

    /// Ends idle threads, and busy ones with their last job, without waiting for them; queued and later work is still
    /// done.
    func stop() {
        condition.withLock {
            hasStopped = true
            condition.broadcast()
        }
    }

    /// Whether no thread stays without work any more.
    var isStopped: Bool { condition.withLock { hasStopped } }

    /// How many threads there are, idle ones included.
    var threadCount: Int { condition.withLock { threads } }

    /// How many jobs wait for a thread.
    var waitingJobs: Int { condition.withLock { jobs.count } }

    /// Runs `job` on a thread of the queue, after those that were submitted before. When the system cannot start another
    /// thread, the job waits for one of those that there are.
    ///
    /// - Returns: Whether it must wait until a thread has done another job.
    /// - Throws: ``TansuError`` with `.memory` when there is no thread: `job` never runs.
    @discardableResult
    func submit(_ job: @escaping @Sendable () -> Void) throws -> Bool {
        try condition.withLock {
            jobs.append(job)
            do {
                try provideThread()
            } catch {
                guard threads > 0 else {
                    // The job is the only one: without threads no other is queued.
                    jobs.removeLast()
                    throw error
                }
            }
            return jobs.count > threads - busyThreads
        }
    }

    /// Wakes or starts a thread for the newest job, unless all may be busy. Under the lock.
    private func provideThread() throws {
        if jobs.count <= threads - busyThreads {
            condition.signal()
        } else if threads < width {
            try startThread(name) { self.work() }
            threads += 1
        }
    }

    private func work() {
        var isBusy = false
        while let job = nextJob(isBusy) {
            isBusy = true
            job()
        }
    }

    /// - Parameter wasBusy: Whether the calling thread has done a job.
    private func nextJob(_ wasBusy: Bool) -> (@Sendable () -> Void)? {
        condition.lock()
        defer { condition.unlock() }
        if wasBusy { busyThreads -= 1 }
        let deadline = idleSeconds.map { Date(timeIntervalSinceNow: $0) }
        while jobs.isEmpty {
            let isTimeLeft = !hasStopped && wait(until: deadline)
            if !isTimeLeft && jobs.isEmpty {
                threads -= 1
                return nil
            }
        }
        busyThreads += 1
        let job = jobs.removeFirst()
        // Those that wait because there was no thread for them get one as soon as the system has one.
        if !jobs.isEmpty { try? provideThread() }
        return job
    }

    /// Whether it was woken up in time. (Foundation on Linux traps on `.distantFuture` as a limit.)
    private func wait(until deadline: Date?) -> Bool {
        if let deadline { return condition.wait(until: deadline) }
        condition.wait()
        return true
    }
}
