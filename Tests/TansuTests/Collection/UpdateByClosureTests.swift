import Foundation
import Tansu
import TansuTestSupport
import Testing

@Suite("Updates by closure")
struct UpdateByClosureTests {
    private struct Refused: Error {}

    private func people() throws -> (Database, Database.Collection<Person>) {
        let db = try patientDatabase()
        let people = try db.collection("people", of: Person.self)
        try people.save([.mike, .rosa, .omar])
        return (db, people)
    }

    @Test("One document is changed and returned; one that is not there is not made")
    func one() throws {
        let (_, people) = try people()
        let older = try people.update(id: Person.mike.id) { $0.age += 1 }
        #expect(older?.age == 13)
        #expect(try people.get(Person.mike.id)?.age == 13)
        #expect(try people.update(id: ObjectID()) { _ in Issue.record("there is no such document") } == nil)
        #expect(try people.count() == 3)
    }

    @Test("What the type does not know stays, and what the closure removed is gone")
    func unknownFields() throws {
        let (db, people) = try people()
        let documents = try db.collection("people")
        try documents.update(
            ["name": "mike"], ["$set": ["mail": "m@x", "pet.legs": 4, "age": .int64(12)]])
        try people.update(id: Person.mike.id) { $0.pet?.species = "dog" }
        #expect(
            try documents.get(Person.mike.id) == [
                "_id": .objectID(Person.mike.id), "name": "mike", "age": .int64(12),
                "pet": ["species": "dog", "legs": 4], "mail": "m@x",
            ])
        try people.update(id: Person.mike.id) { $0.pet = nil }
        #expect(try documents.get(Person.mike.id)?.keys == ["_id", "name", "age", "mail"])
    }

    /// Knows of a document only the fields of the keys a, b and c, at every level.
    private struct Partial: Codable, Hashable, Sendable {
        var a: Int?
        var b: String?
        var c: [String: Int]?
    }

    @Test("Whatever is changed, what is stored is the new value and all that the type does not know, as it was")
    func randomChanges() throws {
        let seed = SeededGenerator.seed()
        var random = SeededGenerator(seed: seed)
        func value() -> Partial {
            Partial(
                a: Bool.random(using: &random) ? Int.random(in: 0...3, using: &random) : nil,
                b: Bool.random(using: &random) ? "s\(Int.random(in: 0...2, using: &random))" : nil,
                c: Bool.random(using: &random)
                    ? Dictionary(
                        uniqueKeysWithValues: ["x", "y", "z"].filter { _ in Bool.random(using: &random) }
                            .map { ($0, Int.random(in: 0...2, using: &random)) }) : nil)
        }
        let db = try patientDatabase()
        let documents = try db.collection("values")
        let values = try db.collection("values", of: Partial.self)
        for _ in 0..<300 {
            let (before, after) = (value(), value())
            var stored = try BSONEncoder().encode(before)
            stored["unknown"] = ["k": [1, nil]]
            let id = try documents.save(stored)
            let changed = try values.update(id: id) { $0 = after }
            #expect(changed == after, "seed \(seed)")
            #expect(try values.get(id) == after, "seed \(seed)")
            #expect(try documents.get(id)?["unknown"] == ["k": [1, nil]], "seed \(seed)")
            var known = try #require(try documents.get(id))
            known["_id"] = nil
            known["unknown"] = nil
            #expect(try known.equalsIgnoringKeyOrder(BSONEncoder().encode(after)), "seed \(seed)")
        }
    }

    @Test("A closure that changes nothing writes nothing")
    func nothing() throws {
        let (db, people) = try people()
        let before = try db.stats()["sequence"]
        #expect(try people.update(id: Person.mike.id) { _ in } == .mike)
        #expect(try people.update([:]) { _ in }.modified == 0)
        #expect(try db.stats()["sequence"] == before)
    }

    @Test("The closure's error, or an _id that it changed, keeps nothing and leaves the database usable")
    func errors() throws {
        let (_, people) = try people()
        #expect(throws: Refused.self) {
            try people.update(id: Person.mike.id) {
                $0.age = 99
                throw Refused()
            }
        }
        let id = #expect(throws: TansuError.self) {
            try people.update(id: Person.mike.id) { $0 = Person(name: "other", age: 1) }
        }
        #expect(id?.code == .invalidID)
        #expect(throws: Refused.self) {
            try people.update([:]) { person in
                person.age = 1
                if person.name == "omar" { throw Refused() }
            }
        }
        #expect(try people.find().all() == [.mike, .rosa, .omar])
    }

    @Test("Those that match are changed in one commit, those the closure leaves alone are not counted")
    func several() throws {
        let (db, people) = try people()
        let before = try db.stats()["sequence"]?.intValue ?? 0
        let result = try people.update(["age": ["$lt": 20]], hints: ["$orderby": ["age": 1]]) { person in
            if person.name == "omar" { person.age += 100 }
        }
        #expect(result.matched == 2 && result.modified == 1)
        #expect(try db.stats()["sequence"]?.intValue == before + 1)
        #expect(try people.update([:], hints: ["$max": 1]) { $0.name = "x" }.matched == 1)
        for hints: BSONDocument in [["$fields": ["name": 1]], ["$onlycount": true], ["$explain": true]] {
            let error = #expect(throws: TansuError.self) { try people.update([:], hints: hints) { $0.age = 0 } }
            #expect(error?.code == .invalidQuery)
        }
    }

    @Test("Each document is changed once, though it moves ahead in the index that finds it")
    func movingTarget() throws {
        let numbers = try patientDatabase().collection("numbers")
        try numbers.save((0..<2000).map { ["_id": BSONValue($0), "n": BSONValue($0)] })
        try numbers.ensureIndex("by_n", on: ["n": .ascending])
        for hints: BSONDocument in [[:], ["$orderby": ["n": 1], "$index": "by_n"]] {
            let result = try numbers.update(["n": ["$gte": 0]], hints: hints) { number in
                number["n"] = (number["n"]?.intValue).map { BSONValue($0 + 700) }
            }
            #expect(result.matched == 2000)
        }
        #expect(
            try numbers.find(hints: ["$orderby": ["_id": 1]]).all().map { $0["n"]?.intValue }
                == (1400..<3400).map { $0 })
    }

    @Test("In a transaction that continues after its error, the update is rolled back")
    func inTransaction() throws {
        let (db, people) = try people()
        try db.write { tx in
            let inside = try tx.collection("people", of: Person.self)
            try inside.update(id: Person.mike.id) { $0.age = 50 }
            #expect(throws: Refused.self) {
                try inside.update([:]) { person in
                    person.age = 1
                    if person.name == "omar" { throw Refused() }
                }
            }
            #expect(try inside.find().all().map(\.age) == [50, 35, 7])
        }
        #expect(try people.find().all().map(\.age) == [50, 35, 7])
    }

    @Test("Writing to the database inside the closure is busy immediately; reading is fine")
    func nesting() throws {
        let (_, people) = try people()
        try people.update(id: Person.mike.id) { person in
            let error = #expect(throws: TansuError.self) { try people.save(.omar) }
            #expect(error?.code == .busy)
            person.age = try people.count() + 2
        }
        #expect(try people.get(Person.mike.id)?.age == 5)
    }

    @Test("Many writers at once lose no update")
    func concurrent() async throws {
        let (_, people) = try people()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                group.addTask {
                    await #expect(throws: Never.self) {
                        if number % 2 == 0 {
                            try await people.update(id: Person.mike.id) { $0.age += 1 }
                        } else {
                            try await people.update(["name": "mike"]) { $0.age += 1 }
                        }
                    }
                }
            }
        }
        #expect(try await people.get(Person.mike.id)?.age == Person.mike.age + 40)
    }

    @Test("A cancelled task's update keeps nothing")
    func cancelled() async throws {
        let (_, people) = try people()
        let began = Signal()
        let gate = DispatchSemaphore(value: 0)
        let task = Task {
            try await people.update([:]) { person in
                person.age = 1000
                if person.name == "mike" {
                    Task { await began.give() }
                    gate.wait()
                }
            }
        }
        await began.wait()
        task.cancel()
        gate.signal()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await people.find().all() == [.mike, .rosa, .omar])
    }

    @Test("An upsert updates what matches, and inserts when there is nothing")
    func upsert() async throws {
        let visits = try patientDatabase().collection("visits")
        let first = try await visits.upsert(["page": "/"], ["$inc": ["count": 1], "$setOnInsert": ["since": 2026]])
        #expect(first.matched == 0 && first.upserted.count == 1)
        let second = try await visits.upsert(["page": "/"], ["$inc": ["count": 1], "$setOnInsert": ["since": 2027]])
        #expect(second.matched == 1 && second.upserted.isEmpty)
        let fields: BSONDocument = ["$fields": ["_id": 0]]
        #expect(try await visits.find(hints: fields).all() == [["page": "/", "count": 2, "since": 2026]])
    }
}
