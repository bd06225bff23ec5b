import Tansu
import TansuTestSupport
import Testing

@Suite("Async variants")
struct AsyncVariantTests {
    @Test("Every call has an async variant that does the same")
    func asyncVariants() async throws {
        let db = try await Database.open(.memory)
        let people = try db.collection("people", of: Person.self)
        try await people.ensureIndex("by_age", on: ["age": .ascending])
        #expect(try await people.save(.mike) == BSONValue(Person.mike.id))
        #expect(try await people.insert([.rosa, .omar]).count == 2)
        try await people.replace(.mike)
        #expect(try await people.get(Person.rosa.id) == .rosa)
        #expect(try await people.find(["age": ["$lt": 20]]).sorted(by: "age").all() == [.omar, .mike])
        #expect(try await people.find(["age": 35]).first() == .rosa)
        #expect(try await people.count() == 3)
        #expect(try await people.find(["age": 35]).explain().returned == 1)
        #expect(try await people.indexes().map(\.name) == ["by_age"])
        #expect(try await people.remove(id: Person.omar.id))
        #expect(try await people.remove(["age": 35]) == 1)
        #expect(try await db.collectionNames() == ["people"])
        try await db.renameCollection("people", to: "persons")
        try await db.ensureCollection("people")
        #expect(try await db.removeCollection("people"))
        #expect(try await db.stats().isEmpty == false)
        #expect(try await db.executeJSON(#"{"op": "count", "collection": "persons"}"#).contains("1"))
        try await db.sync()
        try await db.checkpoint()
        try await db.close()
        let error = await #expect(throws: TansuError.self) { try await people.count() }
        #expect(error?.code == .closed)
    }

    @Test("A query is a sequence of all its documents, over many batches")
    func sequence() async throws {
        let db = try patientDatabase()
        let numbers = try db.collection("numbers")
        try await numbers.save((0..<1000).map { ["_id": BSONValue($0)] })
        var expected = 0
        for try await number in numbers.find() {
            #expect(number["_id"]?.intValue == expected)
            expected += 1
        }
        #expect(expected == 1000)
        for try await _ in numbers.find().limit(100) { break }
        #expect(try await numbers.find().reduce(0) { sum, _ in sum + 1 } == 1000)
    }

    @Test("Documents before one that cannot be decoded still come, then the error")
    func sequenceError() async throws {
        struct Name: Codable, Sendable { var name: String }
        let db = try patientDatabase()
        try await db.collection("people").save([["name": "mike"], ["name": "rosa"], ["name": 5]])
        var names: [String] = []
        await #expect(throws: DecodingError.self) {
            for try await name in try db.collection("people", of: Name.self).find() { names.append(name.name) }
        }
        #expect(names == ["mike", "rosa"])
    }

    @Test("A cancelled task's call never begins")
    func cancelled() async throws {
        let db = try patientDatabase()
        let people = try db.collection("people")
        let signal = Signal()
        let task = Task {
            await signal.wait()
            try await people.save(["_id": 1])
        }
        task.cancel()
        await signal.give()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await people.count() == 0)
    }

    @Test("A write on another thread commits, and rolls back the closure's error")
    func write() async throws {
        struct Refused: Error {}
        let db = try patientDatabase()
        let id = try await db.write { tx in try tx.collection("a").save(["_id": 7]) }
        #expect(id == 7)
        await #expect(throws: Refused.self) {
            try await db.write { tx in
                try tx.collection("a").save(["_id": 8])
                throw Refused()
            }
        }
        #expect(try await db.read { try $0.collection("a").find().all() } == [["_id": 7]])
    }

    @Test("A write that awaits commits, and rolls back the closure's error")
    func awaitingWrite() async throws {
        struct Refused: Error {}
        let db = try patientDatabase()
        var steps = 0
        let id = try await db.write { tx in
            let a = try tx.collection("a")
            let id = try await a.save(["_id": 7])
            steps += 1
            await Task.yield()
            #expect(try await a.count() == 1)
            #expect(try await db.collection("a").count() == 0)
            return id
        }
        #expect(id == 7 && steps == 1)
        await #expect(throws: Refused.self) {
            try await db.write { tx in
                _ = try await tx.collection("a").save(["_id": 8])
                throw Refused()
            }
        }
        #expect(try await db.collection("a").find().all() == [["_id": 7]])
    }

    @Test("A read that awaits sees one snapshot")
    func awaitingRead() async throws {
        let (db, people) = try fourPeople()
        let counts = try await db.read { snapshot in
            let before = try await snapshot.collection("people").count()
            try await people.remove([:])
            return [before, try await snapshot.collection("people").count()]
        }
        #expect(counts == [4, 4])
        #expect(try await people.count() == 0)
    }

    @Test("Inside a write that awaits, any other write is busy immediately rather than waiting for itself")
    func awaitingNested() async throws {
        let db = try patientDatabase()
        let a = try db.collection("a")
        try await db.write { tx in
            let other = await #expect(throws: TansuError.self) { try await a.save(["_id": 1]) }
            #expect(other?.code == .busy)
            let nested = await #expect(throws: TansuError.self) { try await db.write { _ in } }
            #expect(nested?.code == .busy)
            _ = try await tx.collection("a").save(["_id": 2])
        }
        #expect(try await a.find().all() == [["_id": 2]])
        try await a.save(["_id": 3])
    }

    @Test("Many waiting writes do not keep the one that they wait for from its end")
    func manyWaiting() async throws {
        let db = try patientDatabase()
        let a = try db.collection("a")
        let inside = Signal()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await db.write { tx in
                    let a = try tx.collection("a")
                    await inside.give()
                    for i in 0..<50 { _ = try await a.save(["_id": BSONValue(i)]) }
                }
            }
            await inside.wait()
            for i in 100..<150 {
                group.addTask { _ = try await a.save(["_id": BSONValue(i)]) }
                group.addTask {
                    try await db.write { tx in _ = try await tx.collection("b").save(["_id": BSONValue(i)]) }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await a.count() == 100)
        #expect(try await db.collection("b").count() == 50)
    }
}
