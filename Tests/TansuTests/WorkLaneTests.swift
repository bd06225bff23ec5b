import Foundation
import Testing

@testable import Tansu

@Suite("Threads of our own")
struct WorkLaneTests {
    @Test("Jobs of a lane of one thread run in order, one at a time, on that thread")
    func order() async throws {
        let lane = WorkLane("test", width: 1, idleSeconds: nil)
        let log = Log()
        for i in 0..<100 { lane.submit { log.append("\(i) \(ObjectIdentifier(Thread.current).hashValue)") } }
        await lane.finish {}
        #expect(log.lines.map { $0.prefix { $0 != " " } } == (0..<100).map { "\($0)" })
        #expect(Set(log.lines.map { $0.drop { $0 != " " } }).count == 1)
        lane.stop()
    }

    @Test("A lane never runs more jobs at once than it is wide, and runs that many")
    func width() async {
        let lane = WorkLane("test", width: 3)
        let state = Log()
        let together = DispatchSemaphore(value: 0)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<9 {
                group.addTask {
                    await lane.finish {
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
        let lane = WorkLane("test", width: 1)
        let blocker = DispatchSemaphore(value: 0)
        let log = Log()
        lane.submit { blocker.wait() }
        let task = Task { try await lane.run { _ in log.append("cancelled") } }
        let ending = Task { await lane.finish { log.append("finished") } }
        task.cancel()
        ending.cancel()
        blocker.signal()
        await #expect(throws: CancellationError.self) { try await task.value }
        await ending.value
        #expect(log.lines == ["finished"])
    }

    @Test("A running job finds its task's cancellation in the flag")
    func flag() async throws {
        let lane = WorkLane("test", width: 1)
        let started = Signal()
        let task = Task {
            try await lane.run { flag in
                Task { await started.give() }
                while true { try flag.check() }
            }
        }
        await started.wait()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("A lane whose idle threads went home works on")
    func idle() async {
        let lane = WorkLane("test", width: 2, idleSeconds: 0)
        for _ in 0..<50 { await lane.finish {} }
        lane.stop()
        await lane.finish {}
    }
}

@Suite("The gate for one task at a time")
struct AsyncGateTests {
    @Test("One task is inside at a time, and all come in")
    func exclusive() async throws {
        let gate = AsyncGate()
        let state = Log()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    try await gate.enter()
                    state.enter()
                    await Task.yield()
                    state.leave()
                    gate.leave()
                }
            }
            try await group.waitForAll()
        }
        #expect(state.highest == 1)
        #expect(state.entries == 50)
    }

    @Test("A task cancelled while it waits leaves at once, and the next comes in")
    func cancellation() async throws {
        let gate = AsyncGate()
        try await gate.enter()
        let waiting = Task { try await gate.enter() }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        gate.leave()
        try await gate.enter()
        gate.leave()
    }
}

/// What jobs on several threads did.
private final class Log: @unchecked Sendable {
    private let lock = NSLock()
    private var storedLines: [String] = []
    private var inside = 0
    private var mostInside = 0
    private var allEntries = 0

    var lines: [String] { lock.withLock { storedLines } }
    var highest: Int { lock.withLock { mostInside } }
    var entries: Int { lock.withLock { allEntries } }

    func append(_ line: String) {
        lock.withLock { storedLines.append(line) }
    }

    func enter() {
        lock.withLock {
            inside += 1
            allEntries += 1
            mostInside = max(mostInside, inside)
        }
    }

    func leave() {
        lock.withLock { inside -= 1 }
    }
}
