import CoreMetrics
import Foundation
import TansuTestSupport
import Testing

@testable import Tansu

/// A value that knows the thread that decoded it.
private struct Witness: Codable, Sendable, Identifiable {
    enum CodingKeys: CodingKey {
        case id, text
    }

    var id: Int
    var text: String
    var thread = currentThread()

    init(id: Int, text: String = "") {
        (self.id, self.text) = (id, text)
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(Int.self, forKey: .id)
        text = try container.decode(String.self, forKey: .text)
    }

    /// Whether the thread that asks decoded it.
    var isFromHere: Bool { thread == currentThread() }
}

private func currentThread() -> ObjectIdentifier { ObjectIdentifier(Thread.current) }

private actor Caller {
    let witnesses: Database.Collection<Witness>

    init(_ witnesses: Database.Collection<Witness>) {
        self.witnesses = witnesses
    }

    func areFromHere() async throws -> [Bool?] {
        [
            try await witnesses.get(1)?.isFromHere, try await witnesses.get(ids: [1]).first?.isFromHere,
            try await anyAttempt { try await witnesses.find().first()?.isFromHere == true },
            try await anyAttempt { try await witnesses.find(["_id": 1]).all().first?.isFromHere == true },
        ]
    }
}

/// Whether one of many attempts succeeds. A query is tried for a millisecond only, which a busy machine may use up.
private func anyAttempt(
    isolation: isolated (any Actor)? = #isolation, _ attempt: () async throws -> Bool
) async throws -> Bool {
    for _ in 0..<200 {
        if try await attempt() { return true }
    }
    return false
}

/// A value of documents in each other.
private struct Nested: Codable, Sendable {
    var inner: [Nested]

    /// - Parameter depth: Of documents and arrays.
    init(depth: Int) {
        inner = depth > 2 ? [Nested(depth: depth - 2)] : []
    }
}

@Suite("Reads where the task is")
struct InPlaceReadTests {
    private func witnesses(_ count: Int, text: String = "") throws -> (Database, Database.Collection<Witness>) {
        let db = try Database(.memory)
        let witnesses = try db.collection("witnesses", of: Witness.self)
        try witnesses.save((1...count).map { Witness(id: $0, text: text) })
        return (db, witnesses)
    }

    @Test("Short reads run on the actor of the caller, which is not left")
    @MainActor
    func mainActor() async throws {
        let (db, witnesses) = try witnesses(100)
        #expect(try await witnesses.get(1)?.isFromHere == true)
        #expect(try await witnesses.get(BSONValue(1))?.isFromHere == true)
        #expect(try await witnesses.get(ids: [1, 2]).map(\.isFromHere) == [true, true])
        #expect(try await anyAttempt { try await witnesses.find(["_id": 3]).first()?.isFromHere == true })
        #expect(try await anyAttempt { try await witnesses.find().limit(64).all().allSatisfy(\.isFromHere) })
        // What is more goes on elsewhere; where the machine is busy for a millisecond, all of it.
        #expect(try await witnesses.find().limit(65).all().last?.isFromHere == false)
        #expect(try await anyAttempt { try await witnesses.find().limit(65).all().dropLast().allSatisfy(\.isFromHere) })
        try await db.read { tx in
            let inside = try tx.collection("witnesses", of: Witness.self)
            #expect(try await inside.get(1)?.isFromHere == true)
            #expect(try await anyAttempt { try await inside.find().first()?.isFromHere == true })
        }
        #expect(try await Caller(witnesses).areFromHere() == [true, true, true, true])
    }

    @Test("Large documents and many of them are decoded on a thread of the database")
    func large() async throws {
        let (_, witnesses) = try witnesses(100, text: String(repeating: "x", count: 2000))
        #expect(try await witnesses.get(ids: 1...30).allSatisfy(\.isFromHere))
        #expect(try await witnesses.get(ids: 1...40).allSatisfy { !$0.isFromHere })
        #expect(try await witnesses.get(ids: 1...65).count == 65)
        #expect(try await anyAttempt { try await witnesses.find().limit(30).all().allSatisfy(\.isFromHere) })
        #expect(try await witnesses.find().limit(40).all().last?.isFromHere == false)
        try await witnesses.save(Witness(id: 0, text: String(repeating: "x", count: 65 << 10)))
        #expect(try await witnesses.get(0)?.isFromHere == false)
        #expect(try await witnesses.find(["_id": 0]).first()?.isFromHere == false)
        #expect(try await witnesses.get(ids: [0]).first?.isFromHere == false)
    }

    @Test("A query that takes long goes on on a thread of the database, with the same result")
    func longQuery() async throws {
        let db = try Database(.memory)
        let words = try db.collection("words")
        try await words.save((0..<100).map { ["_id": BSONValue($0), "t": .string(slowText)] })
        try await words.save(["_id": 100, "t": "y"])
        let slow: BSONDocument = ["t": ["$regex": "x*x*x*[yz]|y"]]
        #expect(try await words.count(slow) == 1)
        #expect(try await words.find(slow).first()?["_id"] == 100)
        #expect(try await words.find(slow).all().count == 1)
        #expect(try await db.read { tx in try await tx.collection("words").count(slow) } == 1)
        let error = await #expect(throws: TansuError.self) { try await words.count(slow, hints: ["$maxTimeMS": 2]) }
        #expect(error?.code == .timeout)
    }

    @Test("With and without await every query has the same result", arguments: 0..<20)
    func sameResults(seed: Int) async throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let db = try Database(.memory)
        let items = try db.collection("items")
        let size = Int.random(in: 0...200, using: &generator)
        try await items.save(
            (0..<size).map { id in
                let pad = String(repeating: "p", count: Int.random(in: 0...3000, using: &generator))
                return [
                    "_id": BSONValue(id), "n": BSONValue(Int.random(in: 0..<10, using: &generator)), "p": .string(pad),
                ]
            })
        for _ in 0..<10 {
            let filter: BSONDocument = ["n": ["$lt": BSONValue(Int.random(in: 0...10, using: &generator))]]
            let query = items.find(filter).sorted(by: "n").skip(Int.random(in: 0...3, using: &generator))
                .limit(Int.random(in: 0...100, using: &generator))
            let (all, first, count) = try expected(query)
            #expect(try await query.all() == all)
            #expect(try await query.first() == first)
            #expect(try await query.count() == count)
            let ids = (0..<Int.random(in: 0...80, using: &generator)).map { _ in
                Int.random(in: 0..<250, using: &generator)
            }
            let documents = try expected(items, ids)
            #expect(try await items.get(ids: ids) == documents)
            for (id, document) in zip(ids.filter { $0 < size }, documents) {
                #expect(try await items.get(id) == document)
            }
        }
    }

    private func expected(_ query: Database.Query<BSONDocument>) throws -> ([BSONDocument], BSONDocument?, Int) {
        (try query.all(), try query.first(), try query.count())
    }

    private func expected(_ items: Database.Collection<BSONDocument>, _ ids: [Int]) throws -> [BSONDocument] {
        try items.get(ids: ids)
    }

    @Test("A read of a cancelled task does not begin")
    func cancelled() async throws {
        let (_, people) = try fourPeople()
        let reads: [@Sendable () async throws -> Void] = [
            { _ = try await people.get(1) }, { _ = try await people.get(ids: [1]) },
            { _ = try await people.count() }, { _ = try await people.find().first() },
            { _ = try await people.find().all() },
        ]
        for read in reads {
            let signal = Signal()
            let task = Task {
                await signal.wait()
                try await read()
            }
            task.cancel()
            await signal.give()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    @Test("A skipped document is reported once")
    func skipping() async throws {
        struct Name: Codable, Sendable { var name: String }
        let db = try Database(.memory)
        try await db.collection("names").save([["_id": 1, "name": 5], ["_id": 2, "name": "mike"]])
        let reported = Collected<BSONValue?>()
        let names = try db.collection("names", of: Name.self)
            .decoding(.skipping(report: { document in reported.append(document.id) }))
        #expect(try await names.find().all().map(\.name) == ["mike"])
        #expect(try await names.find().first()?.name == "mike")
        #expect(reported.all == [1, 1])
    }

    @Test("A read in a transaction that another thread uses does not wait for it")
    func busyTransaction() async throws {
        let (db, _) = try fourPeople()
        try await db.read { tx in
            let people = try tx.collection("people")
            let (held, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            Thread.detachNewThread {
                tx.engine.alone {
                    held.signal()
                    release.wait()
                }
            }
            wait(for: held)
            #expect(try people.session.inPlace { true } == nil)
            release.signal()
            #expect(try await people.get(1)?.name == "mike")
        }
    }

    private func wait(for semaphore: DispatchSemaphore) { semaphore.wait() }

    @Test("A query that is tried first is measured once")
    func measuredOnce() async throws {
        let metrics = CountingMetrics()
        let db = try Database(.memory, options: .init(metrics: metrics))
        let words = try db.collection("words")
        try await words.save((0..<100).map { ["_id": BSONValue($0), "t": .string(slowText)] })
        _ = try await words.count(["t": ["$regex": "x*x*x*[yz]"]])
        _ = try await words.find(["t": ["$regex": "x*x*x*[yz]"]]).first()
        _ = try await words.find().all()
        _ = try await words.find().first()
        #expect(metrics.count("tansu.call.duration count") == 1)
        #expect(metrics.count("tansu.call.duration find") == 3)
        #expect(metrics.count("tansu.call.failures count") == 0)
        #expect(metrics.count("tansu.call.failures find") == 0)
    }

    /// Counts how often values of a type are decoded.
    private struct Decoded: Codable, Sendable {
        static let ids = Collected<Int>()
        var id: Int

        init(id: Int) { self.id = id }

        init(from decoder: any Decoder) throws {
            id = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .id)
            Self.ids.append(id)
        }
    }

    @Test("A query with many documents is one query: another thread goes on with its cursor")
    func handedOver() async throws {
        let metrics = CountingMetrics()
        let db = try Database(.memory, options: .init(metrics: metrics))
        let all = try db.collection("all", of: Decoded.self)
        try await all.save((0..<1000).map { Decoded(id: $0) })
        let reads: [@Sendable () async throws -> [Int]] = [
            { try await all.find().all().map(\.id) },
            { try await db.read { tx in try await tx.collection("all", of: Decoded.self).find().all().map(\.id) } },
        ]
        for read in reads {
            // A machine that is busy for a millisecond makes a query begin again.
            let isOneQuery = try await anyAttempt {
                let before = Decoded.ids.all.count
                return try await read() == Array(0..<1000) && Decoded.ids.all.count - before == 1000
            }
            #expect(isOneQuery)
        }
        let (before, find) = (Decoded.ids.all.count, metrics.count("tansu.call.duration find"))
        #expect(try await all.find().limit(100).all().count == 100)
        #expect(metrics.count("tansu.call.duration find") == find + 1)
        #expect(Decoded.ids.all.count >= before + 100)
        // Every cursor is closed.
        try await db.close()
    }

    @Test("The deepest document fits the stack of a thread of the cooperative pool")
    func deep() throws {
        let db = try Database(.memory)
        let nests = try db.collection("nests", of: Nested.self)
        let id = try nests.save(Nested(depth: 100))
        let done = DispatchSemaphore(value: 0)
        let found = Collected<String>()
        let thread = Thread {
            do { found.append(try nests.get(id) == nil ? "nothing" : "") } catch { found.append("\(error)") }
            done.signal()
        }
        // That of macOS, where it is least.
        thread.stackSize = 512 << 10
        thread.start()
        done.wait()
        #expect(found.all == [""])
    }
}
