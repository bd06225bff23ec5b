import Foundation
import Tansu
import TansuTestSupport
import Testing

/// What the decoder or encoder of ``Reentrant`` does, for the test that runs.
private enum Hook {
    private static let current = Locked<(@Sendable () throws -> Void)?>(nil)

    static func run() throws {
        try current.withLock { $0 }?()
    }

    static func with<Result>(
        isolation: isolated (any Actor)? = #isolation, _ hook: @escaping @Sendable () throws -> Void,
        _ body: () async throws -> Result
    ) async rethrows -> Result {
        current.withLock { $0 = hook }
        defer { current.withLock { $0 = nil } }
        return try await body()
    }

    static func with<Result>(_ hook: @escaping @Sendable () throws -> Void, _ body: () throws -> Result) rethrows
        -> Result
    {
        current.withLock { $0 = hook }
        defer { current.withLock { $0 = nil } }
        return try body()
    }
}

/// A value whose coding calls the database.
private struct Reentrant: Codable, Sendable, Identifiable {
    var id: Int
    var number = 0

    init(id: Int) { self.id = id }

    enum CodingKeys: CodingKey { case id, number }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(Int.self, forKey: .id)
        number = try container.decode(Int.self, forKey: .number)
        try Hook.run()
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(number, forKey: .number)
        try Hook.run()
    }
}

private struct Refused: Error {}

/// An actor that writes, and is called by what it writes.
private actor Owner {
    let db: Database
    private(set) var number = 0

    init(_ db: Database) { self.db = db }

    func increment() async throws {
        try await db.write { tx in
            try tx.collection("log").save(["_id": "one"])
            self.number += 1
        }
    }

    /// The codes of writes of their own inside the closure, which would wait for the closure.
    func writeInside() async throws -> [TansuError.Code?] {
        let db = db
        return try await db.write { tx in
            self.number += 1
            let other = try db.collection("other")
            return [
                codeOf { try db.write { try $0.collection("other").save(["_id": 1]) } },
                codeOf { try other.save(["_id": 1]) },
                codeOf { try other.remove(id: 1) },
                codeOf { try other.ensureIndex("a") },
                codeOf { try other.update(id: 1) { $0["a"] = 1 } },
                codeOf { try tx.savepoint { try other.save(["_id": 1]) } },
                codeOf { try db.dropCollection("other") },
            ]
        }
    }

    func readWhileAnotherWaits(_ started: Signal) async throws -> (Int, Int) {
        async let write: Void = increment()
        await started.wait()
        let log = try db.collection("log")
        var found = 0
        for _ in 0..<100 { found += try await log.find().count() }
        let before = number
        try await write
        return (found, before)
    }
}

private func codeOf<Result>(_ body: () throws -> Result) -> TansuError.Code? {
    do {
        _ = try body()
        return nil
    } catch { return (error as? TansuError)?.code }
}

private func code(isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Void) async
    -> TansuError.Code?
{
    do {
        try await body()
        return nil
    } catch { return (error as? TansuError)?.code }
}

@Suite("Calls inside calls", .serialized, .timeLimit(.minutes(20)))
struct ReentrantCallTests {
    private func reentrants(_ count: Int = 5) throws -> (Database, Database.Collection<Reentrant>) {
        let db = try Database(.memory, options: .init(busyTimeout: .milliseconds(200)))
        let values = try db.collection("values", of: Reentrant.self)
        try values.save((0..<count).map { Reentrant(id: $0) })
        return (db, values)
    }

    @Test("A decoder may read and write")
    func decoders() async throws {
        let (db, values) = try reentrants()
        let raw = try db.collection("values")
        let hook: @Sendable () throws -> Void = {
            _ = try raw.get(1)
            _ = try raw.find().count()
            try db.collection("seen").save(["n": 1])
        }
        try await Hook.with(hook) {
            _ = try await values.get(1)
            _ = try await values.get(ids: [1, 2])
            _ = try await values.find().first()
            #expect(try await values.find().all().count == 5)
            for try await _ in values.find() {}
            try await db.read { _ = try $0.collection("values", of: Reentrant.self).find().all() }
        }
        #expect(try await db.collection("seen").count() >= 1 + 2 + 1 + 5 + 5 + 5)
    }

    @Test("A decoder inside a write is told that its own write would wait for itself")
    func decodersInWrites() async throws {
        let (db, values) = try reentrants()
        _ = values
        try await Hook.with({ try db.collection("seen").save(["n": 1]) }) {
            for _ in 0..<2 {
                await #expect(throws: TansuError.self) {
                    try await db.write { try $0.collection("values", of: Reentrant.self).find().all() }
                }
                await #expect(throws: TansuError.self) {
                    try await db.write { try await $0.collection("values", of: Reentrant.self).get(1) }
                }
                await #expect(throws: TansuError.self) { try await values.update(id: 1) { $0.number += 1 } }
            }
        }
        try await values.update(id: 1) { $0.number += 1 }
        #expect(try await values.get(1)?.number == 1)
    }

    @Test("Decoders and encoders may use the transaction that they are called by")
    func sameTransaction() async throws {
        let (db, _) = try reentrants()
        try await db.write { tx in
            let raw = try tx.collection("values")
            let values = try tx.collection("values", of: Reentrant.self)
            let hook: @Sendable () throws -> Void = {
                _ = try raw.get(1)
                _ = try raw.find().all()
            }
            try Hook.with(hook) {
                _ = try values.get(1)
                _ = try values.find().all()
                try values.save(Reentrant(id: 7))
                try values.update(id: 7) { $0.number += 1 }
                try values.find().forEach { _ in _ = try raw.count() }
                try values.update([:]) { value in
                    _ = try raw.get(2)
                    value.number += 1
                }
            }
        }
        try await db.write { tx in
            let raw = try tx.collection("values")
            let values = try tx.collection("values", of: Reentrant.self)
            try await Hook.with({ _ = try raw.find().all() }) {
                _ = try await values.get(1)
                _ = try await values.find().all()
                try await values.save(Reentrant(id: 8))
                try await values.update(id: 8) { $0.number += 1 }
                for try await _ in values.find() { _ = try await raw.count() }
            }
        }
        #expect(try await db.collection("values").count() == 7)
    }

    @Test("What a decoder throws at times ends that call only")
    func throwing() async throws {
        let (_, values) = try reentrants(64)
        let calls = Locked(0)
        let hook: @Sendable () throws -> Void = {
            let call = calls.withLock {
                $0 += 1
                return $0
            }
            if call.isMultiple(of: 7) { throw Refused() }
        }
        try await Hook.with(hook) { () async throws in
            for round in 0..<50 {
                do {
                    #expect(try await values.get(ids: [1, 2, 3]).count == 3)
                    #expect(try await values.find().limit(3).all().count == 3)
                    #expect(try await values.get(round)?.id == round)
                } catch is DecodingError {}
            }
        }
        #expect(try await values.find().all().count == 64)
    }

    @Test("Synchronous writes inside the closure of an actor are busy at once")
    func synchronousInActor() async throws {
        let db = try patientDatabase()
        try await db.collection("other").save(["_id": 1])
        let owner = Owner(db)
        #expect(try await owner.writeInside() == Array(repeating: .busy, count: 7))
        try await owner.increment()
        #expect(await owner.number == 2)
    }

    @Test("An actor reads while its write waits for another")
    func readsOfWaitingActor() async throws {
        let db = try Database(.memory)
        try await db.collection("log").save(["_id": "zero"])
        let (held, release) = (Signal(), Signal())
        let other = Task.detached {
            try await db.write { _ in
                await held.give()
                await release.wait()
            }
        }
        await held.wait()
        let owner = Owner(db)
        let (started, done) = (Signal(), Signal())
        let reading = Task {
            await started.give()
            let result = try await owner.readWhileAnotherWaits(started)
            await done.give()
            return result
        }
        let log = try db.collection("log")
        for _ in 0..<100 { #expect(try await log.find().count() == 1) }
        await release.give()
        try await other.value
        #expect(try await reading.value.0 >= 100)
        #expect(await owner.number == 1)
    }

    @Test("A detached task that a closure waits for is busy after the timeout", arguments: [true, false])
    func detached(onActor: Bool) async throws {
        let db = try Database(.memory, options: .init(busyTimeout: .milliseconds(100)))
        let owner = Owner(db)
        let result = try await db.write { _ in
            await Task.detached {
                await code {
                    if onActor {
                        try await owner.increment()
                    } else {
                        try await db.write { tx in _ = try await tx.collection("log").save(["_id": 2]) }
                    }
                }
            }.value
        }
        #expect(result == .busy)
        try await owner.increment()
        #expect(await owner.number == 1)
    }

    @Test("A task that outlives the write in which it began writes as any other")
    func outliving() async throws {
        let db = try Database(.memory)
        let ended = Signal()
        let task = try await db.write { _ in
            Task {
                await ended.wait()
                try await db.write { tx in _ = try await tx.collection("log").save(["_id": 1]) }
                try await db.collection("log").save(["_id": 2])
                try await Owner(db).increment()
            }
        }
        await ended.give()
        try await task.value
        #expect(try await db.collection("log").count() == 3)
    }

    @Test("Readers do not wait for a hundred writes that wait")
    func readersPassWriters() async throws {
        let db = try Database(.memory)
        let log = try db.collection("log")
        try await log.save(["_id": "zero"])
        let (held, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        Thread.detachNewThread {
            _ = try? db.write { _ in
                held.signal()
                release.wait()
            }
        }
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                held.wait()
                continuation.resume()
            }
        }
        let writes = (0..<100).map { number in
            Task {
                switch number % 3 {
                case 0: try await Owner(db).increment()
                case 1: try await db.write { tx in _ = try await tx.collection("log").save(["_id": "one"]) }
                default: try await log.save(["_id": "one"])
                }
            }
        }
        for _ in 0..<50 {
            #expect(try await log.get("zero") != nil)
            #expect(try await db.read { try $0.collection("log").count() } == 1)
            #expect(try await db.read { try await $0.collection("log").find().all().count } == 1)
            #expect(try await log.distinct("_id").count == 1)
            await Task.yield()
        }
        for index in writes.indices where index.isMultiple(of: 2) { writes[index].cancel() }
        for index in writes.indices where index.isMultiple(of: 2) {
            await #expect(throws: CancellationError.self) { try await writes[index].value }
        }
        release.signal()
        for index in writes.indices where !index.isMultiple(of: 2) { try await writes[index].value }
        #expect(try await log.count() == 2)
    }
}
