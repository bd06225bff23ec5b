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

// MARK: - Async

extension WorkQueue {
    /// Runs `body` on the queue and suspends the calling task until it is done.
    ///
    /// A task that is cancelled before `body` began gets a `CancellationError` at once, and `body` never runs. A later
    /// cancellation is in the flag, for `body` to check or to stop with.
    ///
    /// - Parameters:
    ///   - limit: How long a write waits for a thread and for the write lock; as long as it takes when `nil`.
    ///   - start: When the wait began, if that was before this call.
    ///   - body: What to run.
    /// - Throws: What `body` throws; `CancellationError`; ``TansuError`` with `.busy` after the limit, and with `.memory`
    ///   when there is no thread: then `body` never runs.
    func run<Result: Sendable>(
        within limit: WaitLimit? = nil, since start: DispatchTime? = nil,
        _ body: @escaping @Sendable (CancellationFlag) throws -> Result
    ) async throws -> Result {
        let flag = CancellationFlag()
        let job = Job<Result> { try body(flag) }
        let called = DispatchTime.now()
        var wait: Int?
        defer { if let wait { limit?.remove(wait) } }
        do {
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Result, any Error>) in
                    guard job.wait(with: continuation) else { return }
                    do {
                        let isQueued = try submit { job.run() }
                        // A write that gets a thread at once has the engine's limit, which begins then.
                        guard let limit, isQueued || start != nil else { return }
                        wait = limit.add(since: start ?? called) { error in
                            job.withdraw(error)
                            flag.endWait(error)
                        }
                    } catch {
                        job.withdraw(error)
                    }
                }
            } onCancel: {
                flag.cancel()
                job.withdraw(CancellationError())
            }
        } catch {
            throw error.asSeenByTask
        }
    }

    /// Runs `body` on the queue even when the task is cancelled: it ends something that began.
    func finish<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            let job = { @Sendable in continuation.resume(returning: body()) }
            // Without a thread it ends here: that may block a thread of the cooperative pool, but only once.
            do { try submit(job) } catch { job() }
        }
    }
}

/// What a thread of a queue runs once, unless it is withdrawn before. It releases everything before the task continues:
/// otherwise the thread would retain the database a little longer, and it could not be opened again yet.
///
/// `@unchecked Sendable`: the state is touched under the lock only.
private final class Job<Success: Sendable>: @unchecked Sendable {
    private enum State {
        case new(@Sendable () throws -> Success)
        case waiting(@Sendable () throws -> Success, CheckedContinuation<Success, any Error>)
        case over
    }

    private let lock = NSLock()
    private var state: State

    init(_ body: @escaping @Sendable () throws -> Success) {
        state = .new(body)
    }

    /// Makes the task wait; `false` when the job was withdrawn, so that there is nothing to wait for.
    func wait(with continuation: CheckedContinuation<Success, any Error>) -> Bool {
        let isWaiting = lock.withLock {
            guard case .new(let body) = state else { return false }
            state = .waiting(body, continuation)
            return true
        }
        if !isWaiting { continuation.resume(throwing: CancellationError()) }
        return isWaiting
    }

    /// Runs it and continues the task.
    func run() {
        guard let (result, continuation) = perform() else { return }
        continuation.resume(with: result)
    }

    /// Makes it never run, and continues the task with an error; does nothing once it runs.
    func withdraw(_ error: any Error) {
        guard case .waiting(_, let continuation) = end() else { return }
        continuation.resume(throwing: error)
    }

    private func end() -> State {
        lock.withLock {
            defer { state = .over }
            return state
        }
    }

    /// A function of its own: at its end nothing retains the body any more.
    private func perform() -> (Result<Success, any Error>, CheckedContinuation<Success, any Error>)? {
        guard case .waiting(let body, let continuation) = end() else { return nil }
        return (Result(catching: body), continuation)
    }
}

// MARK: - Lent

/// A value of a task that is suspended, lent to the thread that works for it; or the other way round.
///
/// `@unchecked Sendable`: only one of the two runs at a time.
struct Lent<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}
