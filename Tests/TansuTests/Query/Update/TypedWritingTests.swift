import Foundation
import Tansu
import Testing

@Suite("Updates, removals and indexes by key path")
struct TypedWritingTests {
    enum Status: String, Codable, Sendable { case open, done }

    struct Step: Codable, Sendable, Equatable { var name: String }

    struct Task: Codable, Sendable, Equatable, Identifiable {
        enum CodingKeys: String, CodingKey {
            case id, status, count, customerID = "customer_id", score, tags, steps, at, best
        }
        var id: Int
        var status: Status = .open
        var count = 0
        var customerID: Int?
        var score: Double = 1
        var tags: [String] = []
        var steps: [Step]?
        var at = Date(timeIntervalSince1970: 0)
        var best: Step?
    }

    private let db: Database
    private let tasks: Database.Collection<Task>

    init() throws {
        db = try Database(.memory)
        tasks = try db.collection("tasks", of: Task.self)
        try tasks.save((1...10).map { Task(id: $0, customerID: $0 % 3) })
    }

    @Test("A typed update sets and computes the properties of the documents that match")
    func update() throws {
        let result = try tasks.update(where: { $0.id > 8 }) {
            $0.set(\.status, .done)
            $0.increment(\.count)
            $0.increment(\.score, by: 0.5)
            $0.set(\.customerID, nil)
            $0.append(\.tags, "a", "b")
            $0.append(\.steps, Step(name: "x"))
            $0.set(\.best, Step(name: "y"))
            $0.raise(\.at, to: Date(timeIntervalSince1970: 9))
        }
        #expect(result.matched == 2 && result.modified == 2)
        var expected = Task(id: 9, status: .done, count: 1, score: 1.5, tags: ["a", "b"], steps: [Step(name: "x")])
        expected.at = Date(timeIntervalSince1970: 9)
        expected.best = Step(name: "y")
        #expect(try tasks.get(9) == expected)
        #expect(try tasks.get(8)?.status == .open)
        try tasks.update(where: { $0.id == 9 }) {
            $0.insert(\.tags, "b", "c")
            $0.unset(\.best)
            $0.multiply(\.count, by: 7)
            $0.lower(\.score, to: 0.25)
        }
        try tasks.update(where: { $0.id == 9 }) { $0.remove(\.tags, "a") }
        let changed = try #require(try tasks.get(9))
        #expect(changed.tags == ["b", "c"] && changed.best == nil && changed.count == 7 && changed.score == 0.25)
        #expect(try db.collection("tasks").get(9)?.contains(key: "customer_id") == false)
    }

    @Test("A typed upsert changes what matches, or inserts")
    func upsert() async throws {
        let first = try await tasks.upsert(where: { $0.customerID == 7 }, inserting: Task(id: 50, customerID: 7)) {
            $0.increment(\.count)
        }
        #expect(first.matched == 0 && first.upserted == [50])
        let second = try await tasks.upsert(where: { $0.customerID == 7 }, inserting: Task(id: 51, customerID: 7)) {
            $0.increment(\.count)
        }
        #expect(second.matched == 1 && second.upserted.isEmpty)
        #expect(try await tasks.get(50)?.count == 1)
        #expect(try await tasks.get(51) == nil)

        struct Visit: Codable, Sendable, Equatable {
            var page: String
            var count: Int
            var since: Date
        }
        let visits = try db.collection("visits", of: Visit.self)
        for _ in 0..<2 {
            try await visits.upsert(where: { $0.page == "/" }) {
                $0.increment(\.count)
                $0.setOnInsert(\.since, Date(timeIntervalSince1970: 5))
            }
        }
        #expect(try await visits.find().all() == [Visit(page: "/", count: 2, since: Date(timeIntervalSince1970: 5))])
    }

    @Test("A typed upsert whose document cannot be decoded inserts nothing")
    func undecodableUpsert() throws {
        #expect(throws: DecodingError.self) {
            try tasks.upsert(where: { $0.customerID == 8 }) { $0.increment(\.count) }
        }
        #expect(try tasks.count() == 10)
        try db.write { tx in
            let inside = try tx.collection("tasks", of: Task.self)
            #expect(throws: DecodingError.self) {
                try inside.upsert(where: { $0.customerID == 8 }) { $0.increment(\.count) }
            }
            try inside.upsert(where: { $0.id == 10 }) { $0.increment(\.count) }
        }
        #expect(try tasks.count() == 10)
        #expect(try tasks.get(10)?.count == 1)
    }

    @Test("An index on a property's name, where documents have another, is an error that says which")
    func propertyNamesInIndexes() async throws {
        struct Owner: Codable, Sendable {
            enum CodingKeys: String, CodingKey { case id, task = "main_task", tasks }
            var id: Int
            var task: Task?
            var tasks: [Task] = []
        }
        func rejected(_ stored: String, _ body: () throws -> Void) {
            let error = #expect(throws: TansuError.self) { try body() }
            #expect(error?.code == .invalidIndex)
            #expect(error?.message.contains("\"\(stored)\"") == true, "\(String(describing: error))")
        }
        rejected("customer_id") { try tasks.ensureIndex(on: ["customerID": .ascending]) }
        rejected("customer_id") { try tasks.ensureIndex(on: ["count": .ascending, "customerID": .ascending]) }
        rejected("_id") { try tasks.ensureIndex(on: [Database.IndexKey("id")]) }
        rejected("customer_id") {
            _ = try db.collection("tasks", of: Task.self, indexes: [.init(on: ["customerID": .ascending])])
        }
        let owners = try db.collection("owners", of: Owner.self)
        rejected("main_task") { try owners.ensureIndex(on: ["task": .ascending]) }
        rejected("main_task.customer_id") { try owners.ensureIndex(on: ["main_task.customerID": .ascending]) }
        await #expect(throws: TansuError.self) { try await tasks.ensureIndex(on: ["customerID": .ascending]) }
        // Stored names, fields that the type does not have, and what documents really have.
        try await tasks.ensureIndex(on: ["customer_id": .ascending, "other": .ascending, "best.name": .ascending])
        try await owners.ensureIndex(on: ["main_task.id": .ascending])
        try await db.collection("tasks").ensureIndex(on: ["customerID": .ascending])
        try await db.collection("tasks").save(["_id": 99, "score": 1, "customerID": 4])
        try await tasks.ensureIndex("again", on: ["customerID": .ascending])
    }

    @Test("Nested properties are changed by their paths")
    func nested() throws {
        struct Person: Codable, Sendable, Equatable {
            var id: Int
            var best: Step
        }
        let people = try db.collection("people", of: Person.self)
        try people.save(Person(id: 1, best: Step(name: "a")))
        try people.update(where: { $0.best.name == "a" }) { $0.set(\.best.name, "b") }
        #expect(try people.get(1)?.best.name == "b")
    }

    @Test("An update that changes nothing, or one property twice, is an error")
    func invalid() throws {
        let codes: [TansuError.Code?] = [
            #expect(throws: TansuError.self) { try tasks.update(where: { $0.id > 0 }) { _ in } }?.code,
            #expect(throws: TansuError.self) {
                try tasks.update(where: { $0.id > 0 }) {
                    $0.set(\.count, 1)
                    $0.increment(\.count)
                }
            }?.code,
        ]
        #expect(codes == [.invalidQuery, .invalidQuery])
        #expect(try tasks.find { $0.count == 0 }.count() == 10)
    }

    @Test("A removal by a query obeys its sort order, skip and limit")
    func remove() async throws {
        let last = try tasks.find { $0.count == 0 }.sorted(by: \.id, .descending)
        #expect(try await tasks.remove(last.limit(1)) == 1)
        #expect(try await tasks.find().all().map(\.id) == Array(1...9))
        #expect(try await tasks.remove(last.skip(1).limit(2)) == 2)
        #expect(try await tasks.find().all().map(\.id) == [1, 2, 3, 4, 5, 6, 9])
        #expect(try await tasks.remove(tasks.find().sorted(by: "_id").limit(2)) == 2)
        #expect(try await tasks.remove { $0.id < 5 } == 2)
        #expect(try await tasks.remove { $0.id == 5 } == 1)
        #expect(try await tasks.update(where: { $0.id == 6 }) { $0.increment(\.count) }.modified == 1)
        #expect(try await tasks.remove(tasks.find().fields(["count": 1])) == 2)
        #expect(try await tasks.count() == 0)
    }

    @Test("A removal by a query obeys its limit outside of tasks too")
    func synchronousRemove() throws {
        let last = try tasks.find { $0.count == 0 }.sorted(by: \.id, .descending)
        #expect(try tasks.remove(last.limit(1)) == 1)
        #expect(try tasks.remove(last.skip(1).limit(2)) == 2)
        #expect(try tasks.remove { $0.id < 5 } == 4)
        #expect(try tasks.find().all().map(\.id) == [5, 6, 9])
    }

    @Test("An update by a query obeys its sort order and limit")
    func limitedUpdate() throws {
        let query = try tasks.find { $0.count == 0 }.sorted(by: \.id, .descending).limit(3)
        #expect(try tasks.update(query) { $0.set(\.count, 5) }.modified == 3)
        #expect(try tasks.find { $0.count == 5 }.all().map(\.id) == [8, 9, 10])
    }

    @Test("A query of another collection is refused")
    func foreign() throws {
        let others = try db.collection("others", of: Task.self)
        let codes: [TansuError.Code?] = [
            #expect(throws: TansuError.self) { try tasks.remove(others.find()) }?.code,
            #expect(throws: TansuError.self) { try tasks.update(others.find()) { $0.increment(\.count) } }?.code,
        ]
        #expect(codes == [.invalidArgument, .invalidArgument])
        #expect(try tasks.count() == 10)
    }

    @Test("In a transaction the query of the collection in it is written")
    func transaction() throws {
        try db.write { transaction in
            let tasks = try transaction.collection("tasks", of: Task.self)
            #expect(try tasks.remove(tasks.find().limit(4)) == 4)
            #expect(try tasks.update(where: { $0.id > 0 }) { $0.increment(\.count) }.modified == 6)
        }
        #expect(try tasks.find { $0.count == 1 }.count() == 6)
    }

    @Test("Indexes are made asynchronously")
    func asyncIndexes() async throws {
        try await tasks.ensureIndex("both", on: \.customerID, \.at, unique: false)
        #expect(try await tasks.indexes().first?.keys.map(\.path) == ["customer_id", "at"])
    }

    @Test("Indexes are made for the stored names of properties")
    func indexes() throws {
        try tasks.ensureIndex(on: \.customerID)
        try tasks.ensureIndex("twice", on: \.customerID, \.at, directions: [.descending], sparse: true)
        try tasks.ensureIndex("open", on: \.count, where: { $0.status == .open })
        let paths = Dictionary(uniqueKeysWithValues: try tasks.indexes().map { ($0.name, $0.keys) })
        #expect(paths.count == 3)
        #expect(paths["twice"] == [Database.IndexKey("customer_id", .descending), Database.IndexKey("at")])
        #expect(paths["open"] == [Database.IndexKey("count")])
        #expect(paths.values.contains([Database.IndexKey("customer_id")]))
        #expect(try tasks.indexes().first { $0.name == "open" }?.partialFilter == ["status": "open"])
    }
}
