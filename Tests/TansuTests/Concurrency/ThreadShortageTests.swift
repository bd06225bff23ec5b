import Foundation
import TansuTestSupport
import Testing

@testable import Tansu

/// A system that starts a number of threads, and then no more.
private final class ThreadBudget: Sendable {
    private let left: Locked<Int>

    init(_ count: Int) { left = Locked(count) }

    func allow(_ count: Int) { left.withLock { $0 += count } }

    func start(_ name: String, _ body: @escaping @Sendable () -> Void) throws {
        try left.withLock { left in
            guard left > 0 else { throw TansuError(.memory, "No thread", systemErrno: EAGAIN) }
            left -= 1
        }
        try WorkerThread.start(name, body)
    }
}

@Suite("When the system starts no more threads", .timeLimit(.minutes(20)))
struct ThreadShortageTests {
    @Test("Without any thread a call throws and never runs; with one again, calls run")
    func noThread() async throws {
        let budget = ThreadBudget(0)
        let queue = WorkQueue("test", width: 4, idleSeconds: nil, startThread: budget.start)
        let log = JobLog()
        for _ in 0..<3 {
            let error = await #expect(throws: TansuError.self) {
                try await queue.run { _ in log.append("lost") }
            }
            #expect(error?.code == .memory)
            #expect(error?.systemErrno == EAGAIN)
        }
        budget.allow(1)
        for number in 0..<3 { try await queue.run { _ in log.append("\(number)") } }
        #expect(log.lines == ["0", "1", "2"])
        queue.stop()
    }

    @Test("Without any thread, what must be finished runs on the thread of its caller")
    func finishing() async {
        let queue = WorkQueue("test", width: 4, idleSeconds: nil, startThread: ThreadBudget(0).start)
        let log = JobLog()
        await queue.finish { log.append("finished") }
        #expect(log.lines == ["finished"])
    }

    @Test("Calls without a thread of their own run on one that there is")
    func sharing() async throws {
        let queue = WorkQueue("test", width: 4, idleSeconds: nil, startThread: ThreadBudget(1).start)
        let log = JobLog()
        let blocker = DispatchSemaphore(value: 0)
        try queue.submit { blocker.wait() }
        #expect(try queue.submit { log.append("next") })
        async let result: Void = queue.run { _ in log.append("last") }
        blocker.signal()
        try await result
        #expect(log.lines.contains("next"))
        await queue.finish {}
        #expect(log.lines.count == 2)
        #expect(queue.threadCount == 1)
        queue.stop()
    }

    @Test("Calls that wait get threads as soon as there are some")
    func recovery() async throws {
        let budget = ThreadBudget(1)
        let queue = WorkQueue("test", width: 3, idleSeconds: nil, startThread: budget.start)
        let (blocker, first, second) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        try queue.submit { blocker.wait() }
        // Neither of the two can end before the other has begun.
        async let one: Void = queue.finish {
            second.signal()
            first.wait()
        }
        async let other: Void = queue.finish {
            first.signal()
            second.wait()
        }
        while queue.waitingJobs < 2 { await Task.yield() }
        budget.allow(2)
        blocker.signal()
        _ = await (one, other)
        queue.stop()
    }

    @Test("A loop over changes throws when no thread can wait for commits, and the database closes")
    func observing() throws {
        let db = try Database(.memory)
        let budget = ThreadBudget(0)
        let signal = CommitSignal(startThread: budget.start)
        for _ in 0..<2 {
            let error = #expect(throws: TansuError.self) { try signal.mark(db.engine) }
            #expect(error?.code == .memory)
        }
        #expect(signal.isIdle)
        budget.allow(1)
        _ = try signal.mark(db.engine)
        #expect(!signal.isIdle)
        signal.stop()
        try db.close()
    }
}
