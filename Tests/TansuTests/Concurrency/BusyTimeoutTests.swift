import Foundation
import TansuTestSupport
import Testing

@testable import Tansu

@Suite("How long async writes wait", .timeLimit(.minutes(20)))
struct BusyTimeoutTests {
    private static func code<Result>(_ body: () async throws -> Result) async -> TansuError.Code? {
        do {
            _ = try await body()
            return nil
        } catch { return (error as? TansuError)?.code }
    }

    @Test("A write is busy after the timeout although no thread is free for it")
    func queued() async throws {
        let db = try Database(.memory, options: .init(busyTimeout: .milliseconds(50)))
        let people = try db.collection("people")
        let blocker = DispatchSemaphore(value: 0)
        let blocking = (0..<8).map { _ in Task { try await db.runWriting { _ in blocker.wait() } } }
        while db.writers.threadCount < 8 { await Task.yield() }
        let writes = (0..<40).map { number in
            Task { await Self.code { try await people.save(["_id": BSONValue(number)]) } }
        }
        for write in writes { #expect(await write.value == .busy) }
        #expect(await Self.code { try await db.write(isolation: nil) { _ in } } == .busy)
        for _ in blocking { blocker.signal() }
        for task in blocking { try await task.value }
        #expect(try await people.count() == 0)
        try await people.save(["_id": 1])
        try await db.close()
    }

    @Test("Behind a transaction all writes are busy, in whatever number; then they succeed")
    func many() async throws {
        let db = try Database(.memory, options: .init(busyTimeout: .milliseconds(50)))
        let people = try db.collection("people")
        let (begun, done) = (Signal(), Signal())
        let holder = Task {
            try await db.write { tx in
                await begun.give()
                await done.wait()
                try await tx.collection("people").save(["_id": "holder"])
            }
        }
        await begun.wait()
        let writes = (0..<60).map { number in
            Task {
                await Self.code {
                    switch number % 4 {
                    case 0: try await people.save(["_id": BSONValue(number)])
                    case 1: _ = try await people.update([:], ["$set": ["a": 1]])
                    case 2: try await db.write(isolation: nil) { _ in }
                    default: try await db.write { tx in _ = try await tx.collection("people").count() }
                    }
                }
            }
        }
        for write in writes { #expect(await write.value == .busy) }
        await done.give()
        try await holder.value
        try await people.save(["_id": 1])
        #expect(try await people.count() == 2)
        try await db.close()
    }

    @Test("Without a time to wait, writes succeed while nobody else writes")
    func zero() async throws {
        let db = try Database(.memory, options: .init(busyTimeout: .zero))
        let people = try db.collection("people")
        for number in 0..<100 {
            try await people.save(["_id": BSONValue(number)])
            try await db.write { tx in try await tx.collection("people").save(["_id": BSONValue(number + 1000)]) }
        }
        #expect(try await people.count() == 200)
        try await db.close()
    }

    @Test("Many queued writes succeed within the timeout")
    func longTimeout() async throws {
        let (db, people) = try fourPeople()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 10..<510 { group.addTask { try await people.save(["_id": BSONValue(number)]) } }
            try await group.waitForAll()
        }
        #expect(try await people.count() == 504)
        try await db.close()
    }

    @Test("The wait of the engine for the write lock ends when the time of the call is over")
    func lockWait() async throws {
        let (db, people) = try fourPeople()
        let (begun, done) = (Signal(), Signal())
        let holder = Task {
            try await db.write { _ in
                await begun.give()
                await done.wait()
            }
        }
        await begun.wait()
        let limit = WaitLimit(timeout: 0)
        // It waited for a thread before, which is why its time is over: the database's own is longer.
        let late = await Self.code {
            try await db.writers.run(within: limit, since: .now()) { flag in
                try db.write(durability: nil, cancelledBy: flag) { _ in }
            }
        }
        #expect(late == .busy)
        await done.give()
        try await holder.value
        try await people.save(["_id": 5])
        try await db.close()
    }

    @Test("A wait that ends too late throws why, whatever it waited for; what follows is not stopped")
    func flag() throws {
        let busy = TansuError(.busy, "late")
        let early = CancellationFlag()
        early.endWait(busy)
        #expect(throws: busy) { try early.waiting(with: {}) { Issue.record("It must not begin") } }
        #expect(try early.waiting(with: {}) { 1 } == 1)

        let during = CancellationFlag()
        #expect(throws: busy) { try during.waiting(with: {}) { during.endWait(busy) } }
        let other = CancellationFlag()
        #expect(throws: TansuError(.readOnly, "r")) {
            try other.waiting(with: {}) {
                other.endWait(busy)
                throw TansuError(.readOnly, "r")
            }
        }

        let after = CancellationFlag()
        #expect(try after.waiting(with: { Issue.record("It is over") }) { 1 } == 1)
        after.endWait(busy)
        #expect(try after.waiting(with: {}) { 2 } == 2)
    }

    @Test("Waits end in the order of their deadlines, and removed ones do not")
    func order() async {
        let limit = WaitLimit(timeout: 1)
        let log = JobLog()
        let ended = DispatchSemaphore(value: 0)
        let start = DispatchTime.now()
        let removed = limit.add(since: start + .seconds(1)) { _ in log.append("removed") }
        limit.remove(removed)
        _ = limit.add(since: start + .milliseconds(2)) { _ in
            log.append("second")
            ended.signal()
        }
        _ = limit.add(since: start) { _ in log.append("first") }
        await WorkQueue.ofOneJob("test").finish { ended.wait() }
        #expect(log.lines == ["first", "second"])
    }
}
