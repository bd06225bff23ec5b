import Foundation
import Tansu
import TansuTestSupport
import Testing

@Suite("Migrations")
struct MigrationTests {
    private struct Refused: Error {}

    private func migrations(_ names: String...) -> Database.Migrations {
        var migrations = Database.Migrations()
        for name in names {
            migrations.add(name) { step in try step.collection("done").insert(["_id": .string(name)]) }
        }
        return migrations
    }

    @Test("The record of migrations is written by migrate only")
    func ownCollection() throws {
        let db = try Database(.memory)
        var migrations = Database.Migrations()
        migrations.add("first") { try $0.collection("people").save(["_id": 1]) }
        try db.migrate(migrations)
        let name = "tansu.migrations"
        let steps = try db.collection(name)
        for write: () throws -> Void in [
            { try steps.save(["_id": "a"]) }, { try steps.insert([["_id": "a"]]) }, { try steps.remove([:]) },
            { try steps.remove(id: "first") }, { try steps.update([:], ["$set": ["number": 7]]) },
            { _ = try steps.findAndRemove([:]) }, { try steps.bulk([.remove([:])], policy: .allOrNothing) },
            { try db.dropCollection(name) }, { try db.renameCollection(name, to: "b") },
            { try db.renameCollection("people", to: name) },
            { try db.write { _ = try $0.collection(name).remove([:]) } },
            { try db.write { _ = try $0.dropCollection(name) } },
        ] {
            let error = #expect(throws: TansuError.self) { try write() }
            #expect(error?.code == .invalidArgument)
            #expect(error?.message.contains("migrate") == true)
        }
        #expect(try db.appliedMigrations().map(\.name) == ["first"])
        #expect(try db.migrate(migrations) == [])
    }

    @Test("Each step runs once per database, in order")
    func once() throws {
        let folder = try TemporaryFolder()
        do {
            let db = try Database(path: folder.path("a"))
            #expect(try db.migrate(migrations("one", "two")) == ["one", "two"])
            #expect(try db.migrate(migrations("one", "two")) == [])
            try db.close()
        }
        let db = try Database(path: folder.path("a"))
        #expect(try db.migrate(migrations("one", "two", "three")) == ["three"])
        #expect(try db.appliedMigrations().map(\.name) == ["one", "two", "three"])
        #expect(try db.collection("done").find().all() == [["_id": "one"], ["_id": "two"], ["_id": "three"]])
        try db.close()
        let reader = try Database(path: folder.path("a"), options: .init(readOnly: true))
        #expect(try reader.migrate(migrations("one", "two", "three")) == [])
    }

    @Test("A step that fails is rolled back, those before it are done, and the next call continues with it")
    func failing() throws {
        let (db, people) = try fourPeople()
        let before = try people.find().all()
        var broken = migrations("one")
        broken.add("two") { step in
            try step.rewrite("people") { $0["age"] = 1 }
            try step.collection("people").ensureIndex("by_age", on: ["age": .ascending])
            try step.collection("other").save(["a": 1])
            throw Refused()
        }
        broken.add("three") { _ in Issue.record("a step after one that failed") }
        #expect(throws: Refused.self) { try db.migrate(broken) }
        #expect(try db.appliedMigrations().map(\.name) == ["one"])
        #expect(try people.find().all() == before)
        #expect(try people.indexes() == [])
        #expect(try db.collectionNames().contains("other") == false)
        #expect(try db.migrate(migrations("one", "two")) == ["two"])
    }

    @Test("A database that is newer than the app is rejected, and the unknown steps are named")
    func newer() throws {
        let db = try Database(.memory)
        try db.migrate(migrations("one", "two", "three"))
        let error = #expect(throws: TansuError.self) { try db.migrate(migrations("one", "four")) }
        #expect(error?.code == .version)
        #expect(error?.context == "two, three")
        #expect(try db.collection("done").count() == 3)
    }

    @Test("A changed order, an inserted step, a duplicate name and an empty name are rejected before anything is done")
    func order() throws {
        let db = try Database(.memory)
        try db.migrate(migrations("one", "two"))
        for changed in [
            migrations("two", "one", "three"), migrations("one", "new", "two"), migrations("new", "one", "two"),
        ] {
            let error = #expect(throws: TansuError.self) { try db.migrate(changed) }
            #expect(error?.code == .invalidArgument)
        }
        for wrong in [migrations("one", "two", "three", "three"), migrations("one", "two", "")] {
            let error = #expect(throws: TansuError.self) { try db.migrate(wrong) }
            #expect(error?.code == .invalidArgument)
        }
        #expect(try db.appliedMigrations().map(\.name) == ["one", "two"])
    }

    @Test("Steps make indexes, rewrite documents and values, use operators and set schemas")
    func steps() throws {
        struct Old: Decodable {
            var id: Int
            var name: String
        }
        struct New: Encodable {
            var id: Int
            var fullName: String
        }
        let (db, people) = try fourPeople()
        var migrations = Database.Migrations()
        migrations.add("index") { try $0.collection("people").ensureIndex("by_age", on: ["age": .ascending]) }
        migrations.add("rewrite") { step in
            let count = try step.rewrite("people", ["age": 35]) { $0["old"] = true }
            #expect(count == 2)
        }
        migrations.add("operators") { try $0.collection("people").update([:], ["$unset": ["tags": 1]]) }
        migrations.add("schema") {
            try $0.setSchema(DocumentSchema(["properties": ["old": ["type": "boolean"]]]), for: "people")
            // The schema holds within the very step that sets it.
            let people = try $0.collection("people")
            #expect(throws: TansuError.self) { try people.save(["old": 1]) }
        }
        migrations.add("types") { step in
            let count = try step.rewrite("people", of: Old.self) { New(id: $0.id, fullName: $0.name) }
            #expect(count == 4)
        }
        migrations.add("names") { try $0.transaction.renameCollection("people", to: "persons") }
        try db.migrate(migrations)
        let persons = try db.collection("persons")
        #expect(try persons.indexes().map(\.name) == ["by_age"])
        #expect(try persons.get(1) == ["_id": 1, "fullName": "mike"])
        #expect(try people.count() == 0)
        #expect(throws: TansuError.self) { try persons.save(["old": 1]) }
    }

    @Test("A step converts documents from one form of values to another, and names what it cannot read")
    func strategies() throws {
        struct Event: Codable, Sendable { var id: Int; var at: Date }
        let db = try Database(.memory)
        try db.collection("events").save(["_id": 1, "at": "1970-01-01T00:00:05.000Z"])
        var migrations = Database.Migrations()
        migrations.add("dates") { step in
            let texts = BSONCodingStrategies(date: .iso8601)
            let old: BSONDocument = ["at": .date(5000)]
            let count = try step.rewrite(
                "events", of: Event.self, coding: texts, storing: BSONCodingStrategies(), old, { $0 as Event })
            #expect(count == 1)
        }
        try db.migrate(migrations)
        #expect(try db.collection("events").get(1)?["at"] == .date(5000))
        try db.collection("events").save(["_id": 1, "at": 7])
        migrations.add("again") { step in
            try step.rewrite("events", of: Event.self, coding: BSONCodingStrategies(date: .iso8601)) { $0 as Event }
        }
        let error = #expect(throws: DecodingError.self) { try db.migrate(migrations) }
        #expect("\(try #require(error))".contains("_id 1 of collection \"events\""))
    }

    @Test("A step may not change an _id")
    func ids() throws {
        let (db, _) = try fourPeople()
        var migrations = Database.Migrations()
        migrations.add("ids") { try $0.rewrite("people") { $0["_id"] = 7 } }
        let error = #expect(throws: TansuError.self) { try db.migrate(migrations) }
        #expect(error?.code == .invalidID)
    }

    @Test("Progress reports steps and documents; what it throws rolls the step back")
    func progress() throws {
        let db = try Database(.memory)
        let numbers = try db.collection("numbers")
        try numbers.save((0..<1000).map { ["_id": BSONValue($0)] })
        var migrations = self.migrations("one")
        migrations.add("two") { try $0.rewrite("numbers") { $0["seen"] = true } }
        let heard = Collected<Database.MigrationProgress>()
        #expect(throws: Refused.self) {
            try db.migrate(migrations) { state in
                heard.append(state)
                if state.documents?.done ?? 0 >= 512 { throw Refused() }
            }
        }
        #expect(heard.all.first == heard.all.first { $0.step == "one" && $0.number == 0 && $0.documents == nil })
        #expect(heard.all.last?.documents?.total == 1000)
        #expect(heard.all.last?.count == 2)
        #expect(try numbers.count(["seen": true]) == 0)
        #expect(try db.migrate(migrations) == ["two"])
        #expect(try numbers.count(["seen": true]) == 1000)
    }

    @Test("Concurrent migrations run each step once")
    func concurrent() async throws {
        let db = try Database(.memory)
        let migrations = self.migrations("one", "two", "three")
        let done = await withTaskGroup(of: [String].self) { group in
            for _ in 0..<8 { group.addTask { (try? await db.migrate(migrations)) ?? ["failed"] } }
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(done.sorted() == ["one", "three", "two"])
        #expect(try await db.appliedMigrations().count == 3)
    }

    @Test("A cancelled migration rolls the running step back, and keeps those before it")
    func cancelled() async throws {
        let (db, people) = try fourPeople()
        let began = Signal()
        let gate = DispatchSemaphore(value: 0)
        var migrations = self.migrations("one")
        migrations.add("two") { step in
            try step.collection("people").remove(["_id": 1])
            Task { await began.give() }
            gate.wait()
            try step.collection("people").remove([:])
        }
        let steps = migrations
        let task = Task { try await db.migrate(steps) }
        await began.wait()
        task.cancel()
        gate.signal()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await people.count() == 4)
        #expect(try await db.appliedMigrations().map(\.name) == ["one"])
    }

    @Test("Migrating inside a write is busy immediately")
    func nesting() throws {
        let db = try Database(.memory)
        let migrations = self.migrations("one")
        try db.write { _ in
            let error = #expect(throws: TansuError.self) { try db.migrate(migrations) }
            #expect(error?.code == .busy)
        }
    }

    @Test("Migrating inside a write that awaits is busy immediately")
    func asyncNesting() async throws {
        let db = try Database(.memory)
        let migrations = self.migrations("one")
        try await db.write { _ async throws in
            let error = await #expect(throws: TansuError.self) { try await db.migrate(migrations) }
            #expect(error?.code == .busy)
        }
    }
}
