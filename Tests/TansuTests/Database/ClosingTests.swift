import Foundation
import TansuTestSupport
import Testing

@testable import Tansu

@Suite("Closing", .timeLimit(.minutes(20)))
struct ClosingTests {
    private static func code<Result>(_ body: () throws -> Result) -> TansuError.Code? {
        do {
            _ = try body()
            return nil
        } catch { return (error as? TansuError)?.code }
    }

    @Test("Closing and releasing a database end its idle threads", arguments: [true, false])
    func threads(closes: Bool) async throws {
        let queues: [WorkQueue]
        do {
            let db = try await Database.open(.memory)
            let people = try db.collection("people")
            try await people.save(["_id": 1])
            for try await _ in people.find().observe() { break }
            try await db.write { tx in try await tx.collection("people").save(["_id": 2]) }
            queues = [db.readers, db.writers, db.transactions]
            #expect(queues.allSatisfy { !$0.isStopped })
            if closes { try await db.close() }
        }
        #expect(queues.allSatisfy { $0.isStopped })
        for queue in queues { while queue.threadCount > 0 { await Task.yield() } }
    }

    @Test("A database that could not be closed keeps its threads")
    func busyThreads() async throws {
        let (db, people) = try fourPeople()
        let cursor = try people.find().makeCursor()
        await #expect(throws: TansuError.self) { try await db.close() }
        #expect(!db.writers.isStopped && !db.readers.isStopped && !db.transactions.isStopped)
        cursor.close()
        try await db.close()
    }

    /// A call whose closure runs until it may go on.
    private typealias Call = @Sendable (Database, _ wait: @escaping @Sendable () -> Void) async throws -> Void

    private static let calls: [(name: String, call: Call)] = [
        ("update by closure", { db, wait in try await db.collection("people").update([:]) { _ in wait() } }),
        ("update of an id", { db, wait in try await db.collection("people").update(id: 1) { _ in wait() } }),
        (
            "forEach",
            { db, wait in
                try await db.runReading { _ in try db.collection("people").find().forEach { _ in wait() } }
            }
        ),
        ("observe", { db, wait in for try await _ in db.observe({ _ in wait() }) { break } }),
    ]

    @Test("Closing waits for a running call, whose own calls succeed", arguments: calls.indices)
    func waiting(index: Int) async throws {
        let (db, people) = try fourPeople()
        let (begun, done) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let call = Task {
            try await Self.calls[index].call(db) {
                begun.signal()
                done.wait()
                done.signal()
                if Self.code({ try people.find().count() }) != nil { Issue.record("Its own call failed") }
            }
        }
        await WorkQueue.ofOneJob("test").finish { begun.wait() }
        let close = Task { try await db.close() }
        while !db.engine.isClosed { await Task.yield() }
        #expect(Self.code { try people.count() } == .closed)
        done.signal()
        try await close.value
        if Self.calls[index].name == "observe" { _ = await call.result } else { try await call.value }
    }

    @Test("Closing inside a call is busy, and does not wait for itself", arguments: calls.indices)
    func inside(index: Int) async throws {
        let (db, people) = try fourPeople()
        let log = JobLog()
        try await Self.calls[index].call(db) { log.append("\(Self.code { try db.close() } == .busy)") }
        #expect(Set(log.lines) == ["true"])
        #expect(try await people.count() == 4)
        try await db.close()
    }

    @Test("Closing in the progress of a call is busy")
    func progress() throws {
        let folder = try TemporaryFolder()
        let db = try Database(path: folder.path("p"))
        try db.collection("people").save(["_id": 1])
        var codes: Set<TansuError.Code?> = []
        try db.verify { _ in codes.insert(Self.code { try db.close() }) }
        #expect(codes == [.busy])
        try db.close()
    }

    @Test("What the user keeps open makes closing busy at once")
    func users() async throws {
        let (db, people) = try fourPeople()
        // More than the loop reads ahead.
        try await people.save((100..<200).map { ["_id": BSONValue($0)] })
        for try await _ in people.find() {
            #expect(Self.code { try db.close() } == .busy)
            break
        }
        let (begun, done) = (Signal(), Signal())
        let holder = Task {
            try await db.write { _ in
                await begun.give()
                await done.wait()
            }
        }
        await begun.wait()
        // All threads that write wait for the transaction.
        let writes = (0..<20).map { number in Task { try await people.save(["_id": BSONValue(number)]) } }
        while db.writers.threadCount < 8 { await Task.yield() }
        let error = await #expect(throws: TansuError.self) { try await db.close() }
        #expect(error?.code == .busy)
        await done.give()
        try await holder.value
        for write in writes { _ = try await write.value }
        try await db.close()
    }

    @Test("A read and a write make closing busy")
    func transactions() throws {
        let (db, _) = try fourPeople()
        try db.read { _ in #expect(Self.code { try db.close() } == .busy) }
        try db.write { _ in #expect(Self.code { try db.close() } == .busy) }
        try db.close()
    }

    @Test("A cursor that is closed while its document is decoded counts once")
    func closedInStep() throws {
        let (db, people) = try fourPeople()
        let cursor = try people.find().makeCursor()
        let engine = try EngineCursor(Session(db).engine, .query([:], hints: [:], collection: "people"))
        _ = try engine.next { _ in engine.close() }
        #expect(Self.code { try db.close() } == .busy)
        cursor.close()
        try db.close()
    }

    @Test("Loops that observe and a task that writes do not keep a database from closing", arguments: 0..<20)
    func observers(round: Int) async throws {
        let (db, people) = try fourPeople()
        try await people.save((10..<200).map { ["_id": BSONValue($0)] })
        let loops = (0..<8).map { number in
            Task {
                if number % 2 == 0 {
                    for try await _ in people.find().observe() {}
                } else {
                    for try await _ in db.observe({ try $0.collection("people").find().all().count }) {}
                }
            }
        }
        let writer = Task {
            var number = 0
            while true {
                number += 1
                try await people.save(["_id": BSONValue(number % 200), "a": BSONValue(number)])
            }
        }
        while db.engine.openFeeds < (round % 9) { await Task.yield() }
        for _ in 0..<round * 10 { await Task.yield() }
        try await db.close()
        for loop in loops {
            await #expect { try await loop.value } throws: { ($0 as? TansuError)?.code == .closed }
        }
        await #expect { try await writer.value } throws: { ($0 as? TansuError)?.code == .closed }
    }

    @Test("Several tasks may close at once")
    func together() async throws {
        let (db, people) = try fourPeople()
        let calls = (0..<4).map { _ in Task { while true { _ = try await people.update([:]) { $0["a"] = 1 } } } }
        await Task.yield()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { try await db.close() } }
            try await group.waitForAll()
        }
        for call in calls { await #expect { try await call.value } throws: { ($0 as? TansuError)?.code == .closed } }
    }
}
