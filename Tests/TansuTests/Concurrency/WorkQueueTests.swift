import Foundation
import TansuTestSupport
import Testing

@testable import Tansu

@Suite("Work queues")
struct WorkQueueTests {
    @Test("Jobs of a queue with one thread run in order, one at a time, on that thread")
    func order() async throws {
        let queue = WorkQueue("test", width: 1, idleSeconds: nil)
        let log = JobLog()
        for i in 0..<100 { try queue.submit { log.append("\(i) \(ObjectIdentifier(Thread.current).hashValue)") } }
        await queue.finish {}
        #expect(log.lines.map { $0.prefix { $0 != " " } } == (0..<100).map { "\($0)" })
        #expect(Set(log.lines.map { $0.drop { $0 != " " } }).count == 1)
        queue.stop()
    }

    @Test("A queue runs as many jobs at once as its width, and never more")
    func width() async {
        let queue = WorkQueue("test", width: 3)
        let state = JobLog()
        let together = DispatchSemaphore(value: 0)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<9 {
                group.addTask {
                    await queue.finish {
                        state.enter()
                        if state.highest < 3 {
                            // The first two cannot go on before the third is there too.
                            _ = together.wait(timeout: .now() + 5)
                        } else {
                            together.signal()
                            together.signal()
                        }
                        state.leave()
                    }
                }
            }
        }
        #expect(state.highest == 3)
    }

    @Test("A job whose task was cancelled in the queue never runs; what must be finished runs")
    func cancellation() async throws {
        let queue = WorkQueue("test", width: 1)
        let blocker = DispatchSemaphore(value: 0)
        let log = JobLog()
        try queue.submit { blocker.wait() }
        let task = Task { try await queue.run { _ in log.append("cancelled") } }
        let ending = Task { await queue.finish { log.append("finished") } }
        task.cancel()
        ending.cancel()
        blocker.signal()
        await #expect(throws: CancellationError.self) { try await task.value }
        await ending.value
        #expect(log.lines == ["finished"])
    }

    @Test("A running job finds its task's cancellation in the flag")
    func flag() async throws {
        let queue = WorkQueue("test", width: 1)
        let started = Signal()
        let task = Task {
            try await queue.run { flag in
                Task { await started.give() }
                while true { try flag.check() }
            }
        }
        await started.wait()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("A queue whose idle threads have ended still works")
    func idle() async {
        let queue = WorkQueue("test", width: 2, idleSeconds: 0)
        let log = JobLog()
        for number in 0..<50 { await queue.finish { log.append("\(number)") } }
        queue.stop()
        await queue.finish { log.append("stopped") }
        #expect(log.lines == (0..<50).map { "\($0)" } + ["stopped"])
    }
}
