import Foundation
import TansuTestSupport
import Testing

@testable import Tansu

/// An observation whose runs are counted, in a database that has no other.
private struct Watch<Value: Sendable> {
    typealias Iterator = Database.ValueObservation<Value>.AsyncIterator
    /// A call of `next()`: its result, and the iterator afterwards.
    typealias Step = Task<(Result<Value?, any Error>, Iterator), Never>

    let db: Database
    private let counter: Collected<Void>
    private var iterator: Iterator
    private var pending: Step?

    init(
        _ db: Database, _ observe: (@escaping @Sendable () -> Void) -> Database.ValueObservation<Value>
    ) {
        self.db = db
        let counter = Collected<Void>()
        self.counter = counter
        iterator = observe { counter.append(()) }.makeAsyncIterator()
    }

    /// How often the closure ran.
    var runs: Int { counter.all.count }

    mutating func next() async throws -> Value? {
        let step = step()
        // The time limit of the test ends it if there is no value.
        let (result, iterator) = await withTaskCancellationHandler {
            await step.value
        } onCancel: {
            step.cancel()
        }
        (self.iterator, pending) = (iterator, nil)
        return try result.get()
    }

    /// Whether the observation waits after some changes without a new value, and how often the closure ran.
    mutating func waits(after change: () throws -> Void) async throws -> (Bool, runs: Int) {
        let before = runs
        if pending != nil { throw TansuError(.invalidState, "The last step is still waiting") }
        try change()
        let isOver = Collected<Void>()
        let task = step()
        Task {
            _ = await task.value
            isOver.append(())
        }
        while db.engine.commits.waitingTasks == 0 && isOver.all.isEmpty {
            try Task.checkCancellation()
            await Task.yield()
        }
        return (isOver.all.isEmpty, runs - before)
    }

    private mutating func step() -> Step {
        if let pending { return pending }
        let task = Step { [iterator] in
            var iterator = iterator
            do {
                let value = try await iterator.next()
                return (.success(value), iterator)
            } catch {
                return (.failure(error), iterator)
            }
        }
        pending = task
        return task
    }
}

extension Watch where Value: Equatable {
    init(_ db: Database, of compute: @escaping @Sendable (Database.Transaction) throws -> Value) {
        self.init(db) { note in
            db.observe { snapshot in
                note()
                return try compute(snapshot)
            }
        }
    }
}

private typealias Compute = @Sendable (Database.Transaction) throws -> Int

/// A way to read the collection "people".
private struct ObservedReading: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let compute: Compute

    init(_ name: String, _ compute: @escaping Compute) {
        testDescription = name
        self.compute = compute
    }

    static let all = [
        ObservedReading("count") { try $0.collection("people").count() },
        ObservedReading("all") { try $0.collection("people").find().all().count },
        ObservedReading("first") {
            try $0.collection("people").find().sorted(by: "_id", .descending).first()?["_id"]?.intValue ?? 0
        },
        ObservedReading("cursor") { snapshot in
            let cursor = try snapshot.collection("people").find().makeCursor()
            var count = 0
            while try cursor.next() != nil { count += 1 }
            return count
        },
        ObservedReading("forEach") { snapshot in
            var count = 0
            try snapshot.collection("people").find().forEach { _ in count += 1 }
            return count
        },
        ObservedReading("get") { try $0.collection("people").get(9) == nil ? 0 : 1 },
        ObservedReading("get by another number") {
            try $0.collection("people").get(BSONValue.double(9)) == nil ? 0 : 1
        },
        ObservedReading("get of ids") { try $0.collection("people").get(ids: [1, 9]).count },
        ObservedReading("distinct") { try $0.collection("people").distinct("_id").count },
        ObservedReading("groups") { try $0.collection("people").aggregate(group: ["by": "_id"]).count },
        ObservedReading("pipeline") { try $0.collection("people").aggregate([.match([:])]).all().count },
        ObservedReading("pipeline that looks up") {
            try $0.aggregate([
                ["$documents": [[:]]], ["$lookup": ["from": "people", "pipeline": [], "as": "all"]], .unwind("all"),
            ]).all().count
        },
        ObservedReading("aggregate") { try $0.collection("people", of: Numbered.self).find().aggregate(.sum(\.id)) },
        ObservedReading("key path") {
            try $0.collection("people", of: Numbered.self).find { $0.inner.number == nil }.count()
        },
        ObservedReading("page") { try $0.collection("people").find().page(size: 100).elements.count },
        ObservedReading("explain") { try $0.collection("people").find().explain().returned },
        ObservedReading("list of collections") { try $0.collections().first { $0.name == "people" }?.documents ?? 0 },
    ]

    struct Numbered: Codable, Sendable, Identifiable {
        struct Inner: Codable, Sendable { var number: Int? }

        var id: Int
        var inner: Inner?
    }
}

@Suite("Observed values", .timeLimit(.minutes(20)))
struct ValueObservationTests {
    @Test("Runs again after a change of what it read, however it read it", arguments: ObservedReading.all)
    fileprivate func readings(reading: ObservedReading) async throws {
        let (db, people) = try fourPeople()
        let pets = try db.collection("pets")
        try await pets.save(["_id": 1])
        var watch = Watch(db, of: reading.compute)
        let first = try await watch.next()
        if reading.testDescription != "list of collections" {
            #expect(try await watch.waits { try pets.save(["_id": 9]) } == (true, runs: 0))
        }
        try save(["_id": 9], in: people)
        #expect(try await watch.next() != first)
        try save(["_id": 9, "new": 1], in: people)
        try remove(9, from: people)
        #expect(try await watch.next() == first)
    }

    private func save(_ document: BSONDocument, in collection: Database.Collection<BSONDocument>) throws {
        try collection.save(document)
    }

    private func remove(_ id: Int, from collection: Database.Collection<BSONDocument>) throws {
        try collection.remove(id: id)
    }

    @Test("A document that was got by its id is observed alone")
    func documents() async throws {
        let (db, people) = try fourPeople()
        var watch = Watch(db) { try $0.collection("people").get(2)?.age?.intValue }
        #expect(try await watch.next() == 35)
        #expect(
            try await watch.waits {
                try people.save(["_id": 1, "age": 13])
                try people.remove(id: 3)
                try people.insert(["_id": "2"])
            } == (true, runs: 0))
        try await people.update(["_id": 2], ["$inc": ["age": 1]])
        #expect(try await watch.next() == 36)
        try await db.dropCollection("people")
        #expect(try await watch.next() == .some(nil))
        #expect(try await watch.waits { try people.save(["_id": 1, "age": 13]) } == (true, runs: 0))
        try await people.save(["_id": 2, "age": 1])
        #expect(try await watch.next() == 1)
    }

    @Test("Joined collections are observed, others are not")
    func joins() async throws {
        let db = try Database(.memory)
        let (people, pets, others) = (try db.collection("people"), try db.collection("pets"), try db.collection("x"))
        try await pets.save(["_id": 1, "name": "tom"])
        try await people.save(["_id": 1, "pet": 1])
        var watch = Watch(db) { snapshot in
            try snapshot.collection("people").find(["$do": ["pet": ["$join": "pets"]]]).all()
        }
        #expect(try await watch.next()?.first?[path: "pet.name"] == "tom")
        #expect(try await watch.waits { try others.save(["_id": 1]) } == (true, runs: 0))
        try await pets.save(["_id": 1, "name": "tim"])
        #expect(try await watch.next()?.first?[path: "pet.name"] == "tim")
    }

    @Test("What is observed is what the last run has read")
    func conditional() async throws {
        let db = try Database(.memory)
        let (which, a, b) = (try db.collection("which"), try db.collection("a"), try db.collection("b"))
        try await which.save(["_id": 1, "name": "a"])
        var watch = Watch(db) { snapshot in
            let name = try snapshot.collection("which").get(1)?["name"]?.stringValue ?? ""
            return "\(name)\(try snapshot.collection(name).count())"
        }
        #expect(try await watch.next() == "a0")
        #expect(try await watch.waits { try b.save(["_id": 1]) } == (true, runs: 0))
        try await which.save(["_id": 1, "name": "b"])
        #expect(try await watch.next() == "b1")
        #expect(try await watch.waits { try a.save(["_id": 1]) } == (true, runs: 0))
        try await b.save(["_id": 2])
        #expect(try await watch.next() == "b2")
    }

    @Test("Equal values are left out; values that cannot be compared are not")
    func equal() async throws {
        let (db, people) = try fourPeople()
        var watch = Watch(db) { try $0.collection("people").count(["age": ["$gte": 18]]) }
        #expect(try await watch.next() == 2)
        #expect(try await watch.waits { try people.save(["_id": 9, "age": 3]) } == (true, runs: 1))
        try await people.save(["_id": 10, "age": 30])
        #expect(try await watch.next() == 3)
        var pairs = db.observe { snapshot in
            (try snapshot.collection("people").count(), try snapshot.collection("pets").count())
        }.makeAsyncIterator()
        #expect(try await pairs.next().map { $0 == (6, 0) } == true)
        try await people.save(["_id": 10, "age": 31])
        #expect(try await pairs.next().map { $0 == (6, 0) } == true)
    }

    @Test("A transaction that is rolled back does not make it run")
    func rolledBack() async throws {
        struct Refused: Error {}
        let (db, _) = try fourPeople()
        var watch = Watch(db) { try $0.collection("people").count() }
        #expect(try await watch.next() == 4)
        let rest = try await watch.waits {
            #expect(throws: Refused.self) {
                try db.write { tx in
                    try tx.collection("people").save(["_id": 9])
                    throw Refused()
                }
            }
        }
        #expect(rest == (true, runs: 0))
    }

    @Test("Dropping, creating and renaming collections are changes")
    func catalog() async throws {
        let (db, people) = try fourPeople()
        var watch = Watch(db) { try $0.collection("people").count() }
        #expect(try await watch.next() == 4)
        try await db.dropCollection("people")
        #expect(try await watch.next() == 0)
        try await people.save([["_id": 1], ["_id": 2]])
        #expect(try await watch.next() == 2)
        try await db.renameCollection("people", to: "folk")
        #expect(try await watch.next() == 0)
        #expect(try await watch.waits { try db.collection("folk").save(["_id": 3]) } == (true, runs: 0))
        try await db.renameCollection("folk", to: "people")
        #expect(try await watch.next() == 3)
        try await db.write { tx in
            try tx.dropCollection("people")
            try tx.collection("people").save(["_id": 7])
        }
        #expect(try await watch.next() == 1)
    }

    @Test("Many commits make one value, in one snapshot")
    func coalescing() async throws {
        let db = try Database(.memory)
        let (a, b) = (try db.collection("a"), try db.collection("b"))
        var watch = Watch(db) { [try $0.collection("a").count(), try $0.collection("b").count()] }
        #expect(try await watch.next() == [0, 0])
        for id in 0..<200 {
            try await a.save(["_id": BSONValue(id)])
            try await b.save(["_id": BSONValue(id)])
        }
        #expect(try await watch.next() == [200, 200])
        #expect(watch.runs == 2)
        // Both change in each commit: no value has one without the other.
        let writer = Task {
            for id in 200..<400 {
                try await db.write { tx in
                    try tx.collection("a").save(["_id": BSONValue(id)])
                    try tx.collection("b").save(["_id": BSONValue(id)])
                }
            }
        }
        var last = 200
        while last < 400 {
            let value = try #require(try await watch.next())
            #expect(value[0] == value[1] && value[0] > last)
            last = value[0]
        }
        try await writer.value
    }

    @Test("An error of the closure is thrown, and the next change makes it run again")
    func errors() async throws {
        struct TooMany: Error {}
        let (db, people) = try fourPeople()
        var watch = Watch(db) { snapshot in
            let count = try snapshot.collection("people").count()
            if count > 4 { throw TooMany() }
            return count
        }
        #expect(try await watch.next() == 4)
        try await people.save(["_id": 9])
        await #expect(throws: TooMany.self) { try await watch.next() }
        try await people.remove(id: 9)
        // Equal to the last value, but not to the last result.
        #expect(try await watch.next() == 4)

        var wrong = db.observe { try $0.collection("people").count(["age": ["$unheard": 1]]) }.makeAsyncIterator()
        await #expect { try await wrong.next() } throws: { ($0 as? TansuError)?.code == .invalidQuery }
        var writing = db.observe { try $0.collection("people").save(["_id": 10]) }.makeAsyncIterator()
        await #expect { try await writing.next() } throws: { ($0 as? TansuError)?.code == .readOnly }
        #expect(try await people.get(10) == nil)
    }

    @Test("The snapshot ends with the closure")
    func snapshotEnds() async throws {
        let (db, _) = try fourPeople()
        for try await people in db.observe({ try $0.collection("people") }) {
            #expect { try people.count() } throws: { ($0 as? TansuError)?.code == .invalidState }
            break
        }
        try await db.close()
    }

    @Test("Ends with the loop, the task or the database, and frees everything")
    func ending() async throws {
        let (db, _) = try fourPeople()
        let counts = db.observe { try $0.collection("people").count() }
        for try await _ in counts { break }
        #expect(db.engine.openFeeds == 0)
        let cancelled = Task { for try await _ in counts {} }
        while db.engine.commits.waitingTasks == 0 { await Task.yield() }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        #expect(db.engine.openFeeds == 0)
        let closed = Task {
            var iterator = counts.makeAsyncIterator()
            var errors: [TansuError.Code] = []
            while true {
                do {
                    if try await iterator.next() == nil { return errors }
                } catch let error as TansuError {
                    errors.append(error.code)
                }
            }
        }
        while db.engine.commits.waitingTasks == 0 { await Task.yield() }
        try await db.close()
        #expect(try await closed.value == [.closed])
        #expect(db.engine.commits.isIdle)
    }

    @Test("A long run stops when its task is cancelled")
    func longRun() async throws {
        let db = try Database(.memory)
        try await db.collection("words").save((0..<4000).map { ["_id": BSONValue($0), "t": .string(slowText)] })
        let begun = Signal()
        let task = Task {
            let counts = db.observe { snapshot in
                Task { await begun.give() }
                return try snapshot.collection("words").count(["t": ["$regex": "x*x*x*[yz]"]])
            }
            for try await _ in counts {}
        }
        await begun.wait()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await db.close()
    }

    @Test("After random writes the value is that of the moment", arguments: 0..<8)
    func random(stream: UInt64) async throws {
        let seed = SeededGenerator.seed()
        var random = SeededGenerator(seed: seed &+ stream)
        let db = try Database(.memory)
        let names = ["a", "b", "c"]
        let compute: @Sendable (Database.Transaction) throws -> [BSONDocument] = { snapshot in
            let a = try snapshot.collection("a").get(ids: [1, 2])
            let b = try snapshot.collection("b").find(["n": ["$gt": 5]]).sorted(by: "n").limit(2).all()
            guard a.count == 2 else { return a + b }
            return a + b + (try snapshot.collection("c").find(["$do": ["n": ["$join": "b"]]]).all())
        }
        var watch = Watch(db, of: compute)
        var last = try #require(try await watch.next())
        for round in 0..<150 {
            for _ in 0..<Int.random(in: 1...3, using: &random) { try change(names, in: db, &random) }
            let current = try snapshot(of: db, compute)
            if current == last { continue }
            #expect(try await watch.next() == current, "TANSU_SEED=\(seed), stream \(stream), round \(round)")
            last = current
        }
    }

    private func snapshot<Value>(
        of db: Database, _ compute: (Database.Transaction) throws -> Value
    ) throws -> Value {
        try db.read(compute)
    }

    private func change(_ names: [String], in db: Database, _ random: inout SeededGenerator) throws {
        let name = names[Int.random(in: 0..<names.count, using: &random)]
        let collection = try db.collection(name)
        let id = BSONValue(Int.random(in: 1...5, using: &random))
        switch Int.random(in: 0..<12, using: &random) {
        case 0: try db.dropCollection(name)
        case 1:
            let other = names[Int.random(in: 0..<names.count, using: &random)]
            try? db.renameCollection(name, to: other)
        case 2...4: try collection.remove(id: id)
        default: try collection.save(["_id": id, "n": BSONValue(Int.random(in: 0...9, using: &random))])
        }
    }
}
