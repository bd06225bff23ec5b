import Foundation
import TansuTestSupport
import Testing

@testable import Tansu

private struct Refused: Error {}

/// Runs `body` in a task that is cancelled when it waits for commits.
private func cancelledWhileWaiting<Value: Sendable>(
    _ db: Database, _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    let task = Task { try await body() }
    while db.engine.commits.waitingTasks == 0 { await Task.yield() }
    task.cancel()
    return try await task.value
}

extension TemporaryFolder {
    /// The size of all files in a folder of it.
    fileprivate func bytes(_ name: String) throws -> Int {
        let files = FileManager.default.enumerator(atPath: path(name))
        return try (files?.compactMap { $0 as? String } ?? []).reduce(0) { sum, file in
            let attributes = try FileManager.default.attributesOfItem(atPath: path(name) + "/" + file)
            return sum + (attributes[.type] as? FileAttributeType == .typeRegular ? attributes[.size] as? Int ?? 0 : 0)
        }
    }
}

@Suite("Observed values under attack", .timeLimit(.minutes(20)))
struct HostileObservationTests {
    @Test("A closure that reads nothing, or fails before it reads, is delivered once and can be cancelled")
    func nothingRead() async throws {
        let db = try Database(.memory)
        var constants = db.observe { _ in 1 }.makeAsyncIterator()
        #expect(try await constants.next() == 1)
        try await db.collection("any").save(["_id": 1])
        var iterator = constants
        await #expect(throws: CancellationError.self) {
            try await cancelledWhileWaiting(db) { [iterator] in
                var copy = iterator
                return try await copy.next()
            }
        }
        var failing = db.observe { _ -> Int in throw Refused() }.makeAsyncIterator()
        await #expect(throws: Refused.self) { try await failing.next() }
        try await db.close()
        await #expect(throws: TansuError.self) { try await failing.next() }
        #expect(try await failing.next() == nil)
        await #expect(throws: TansuError.self) { try await iterator.next() }
    }

    @Test("Errors that look like the end, but are the closure's", arguments: [0, 1])
    func misleadingErrors(kind: Int) async throws {
        let db = try Database(.memory)
        let other = try Database(.memory)
        try await other.close()
        let people = try db.collection("people")
        var counts = db.observe { snapshot in
            let count = try snapshot.collection("people").count()
            if count == 0 {
                if kind == 0 { _ = try other.collections() }
                throw CancellationError()
            }
            return count
        }.makeAsyncIterator()
        await #expect(throws: (any Error).self) { try await counts.next() }
        try await people.save(["_id": 1])
        #expect(try await counts.next() == 1)
    }

    @Test("A closure may write by another way, and observe what it writes")
    func writingInside() async throws {
        let db = try Database(.memory)
        let log = try db.collection("log")
        let runs = Locked(0)
        var counts = db.observe { snapshot in
            let count = try snapshot.collection("log").count()
            let run = runs.withLock {
                $0 += 1
                return $0
            }
            if run < 5 { try log.save(["n": 1]) }
            return count
        }.makeAsyncIterator()
        for expected in 0..<5 { #expect(try await counts.next() == expected) }
        #expect(throws: TansuError.self) { _ = try db.read { try $0.collection("log").save(["n": 1]) } }
    }

    @Test("Inside a write the first value is what was committed before")
    func insideWrite() async throws {
        let db = try Database(.memory)
        try await db.collection("log").save(["_id": 1])
        let counts = db.observe { try $0.collection("log").count() }
        var iterator = try await db.write { tx in
            try await tx.collection("log").save(["_id": 2])
            var iterator = counts.makeAsyncIterator()
            #expect(try await iterator.next() == 1)
            return iterator
        }
        #expect(try await iterator.next() == 2)
    }

    @Test("A snapshot that is kept by the closure is over, as are its queries")
    func escaped() async throws {
        let db = try Database(.memory)
        try await db.collection("log").save(["_id": 1])
        let kept = Locked<Database.Query<BSONDocument>?>(nil)
        var counts = db.observe { snapshot in
            let query = try snapshot.collection("log").find()
            kept.withLock { $0 = query }
            return try query.count()
        }.makeAsyncIterator()
        #expect(try await counts.next() == 1)
        let query = try #require(kept.withLock { $0 })
        #expect(throws: TansuError.self) { try query.all() }
        await #expect(throws: TansuError.self) { try await query.all() }
    }

    @Test("Ids that are equal numbers are the same document", arguments: [BSONValue.double(1), .int64(1), 1])
    func equalIDs(id: BSONValue) async throws {
        let db = try Database(.memory)
        let log = try db.collection("log")
        for asked in [BSONValue.double(1), .int64(1), 1] {
            var values = db.observe { try $0.collection("log").get(asked) != nil }.makeAsyncIterator()
            #expect(try await values.next() == false)
            try await log.save(["_id": id])
            #expect(try await values.next() == true)
            try await log.remove(id: 1)
            #expect(try await values.next() == false)
        }
    }

    @Test("A document that was got is observed through drops, renames and creations")
    func catalog() async throws {
        let db = try Database(.memory)
        var names = db.observe { try $0.collection("people").get(1)?["name"]?.stringValue }.makeAsyncIterator()
        #expect(try await names.next() == .some(nil))
        try await db.collection("people").save(["_id": 1, "name": "a"])
        #expect(try await names.next() == "a")
        try await db.collection("others").save(["_id": 1, "name": "b"])
        _ = try await db.dropCollection("people")
        try await db.renameCollection("others", to: "people")
        #expect(try await names.next() == "b")
        try await db.renameCollection("people", to: "folk")
        #expect(try await names.next() == .some(nil))
        try await db.collection("people").save(["_id": 1, "name": "c"])
        #expect(try await names.next() == "c")
        try await db.write { tx in
            _ = try tx.dropCollection("people")
            try tx.collection("people").save(["_id": 1, "name": "d"])
        }
        #expect(try await names.next() == "d")
        try await db.write { tx in
            try tx.renameCollection("people", to: "swap")
            try tx.renameCollection("folk", to: "people")
        }
        #expect(try await names.next() == "b")
    }

    @Test("Two loops of one iterator neither crash nor hang")
    func copies() async throws {
        let db = try Database(.memory)
        let log = try db.collection("log")
        var iterator = db.observe { try $0.collection("log").count() }.makeAsyncIterator()
        _ = try await iterator.next()
        let loops = (0..<4).map { [iterator] _ in
            Task {
                var copy = iterator
                while let count = try await copy.next(), count < 20 {}
            }
        }
        for number in 1...20 {
            try await log.save(["_id": BSONValue(number)])
            await Task.yield()
        }
        loops[0].cancel()
        _ = await loops[0].result
        try await db.close()
        for loop in loops { _ = await loop.result }
        await #expect(throws: TansuError.self) { try await iterator.next() }
        #expect(db.engine.openFeeds == 0)
    }

    @Test("Cancelled or closed at any moment, loops end, and nothing is left", arguments: 0..<4)
    func anyMoment(round: Int) async throws {
        let db = try Database(.memory)
        let log = try db.collection("log")
        let loops = (0..<100).map { _ in
            Task { for try await _ in db.observe({ try $0.collection("log").find().all().count }) {} }
        }
        let writer = Task { for number in 0..<200 { try await log.save(["_id": BSONValue(number % 10)]) } }
        for (index, loop) in loops.enumerated() where round < 3 {
            for _ in 0..<(index % 7) * round { await Task.yield() }
            loop.cancel()
        }
        while round >= 2 {
            do {
                try await db.close()
                break
            } catch let error as TansuError where error.code == .busy {}  // A closure is running.
        }
        for loop in loops {
            let result = await loop.result
            #expect(throws: (any Error).self) { try result.get() }
            do { try result.get() } catch {
                #expect(error is CancellationError || (error as? TansuError)?.code == .closed, "\(error)")
            }
        }
        _ = await writer.result
        #expect(db.engine.openFeeds == 0)
        // Its thread ends after the last feed.
        while !db.engine.commits.isIdle { await Task.yield() }
    }

    @Test("Observers that nobody reads keep the end of the log only")
    func idleObservers() async throws {
        func size(observers count: Int) async throws -> Int {
            let folder = try TemporaryFolder()
            let db = try Database(path: folder.path("db"), options: .init(durability: .process, segmentSize: 1 << 20))
            let log = try db.collection("log")
            var iterators = (0..<count).map { _ in
                db.observe { try $0.collection("log").count() }.makeAsyncIterator()
            }
            for index in iterators.indices { _ = try await iterators[index].next() }
            let text = String(repeating: "x", count: 10_000)
            for number in 0..<2000 { try await log.save(["_id": BSONValue(number % 10), "text": .string(text)]) }
            try await db.compact()
            let size = try folder.bytes("db")
            for index in iterators.indices { #expect(try await iterators[index].next() == 10) }
            try await db.close()
            return Int(size)
        }
        let (alone, observed) = (try await size(observers: 0), try await size(observers: 50))
        #expect(observed <= alone + (4 << 20), "\(alone), \(observed)")
    }
}
