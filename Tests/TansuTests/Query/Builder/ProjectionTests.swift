import Tansu
import TansuTestSupport
import Testing

@Suite("Projections and explanations")
struct ProjectionTests {
    struct Name: Codable, Sendable, Equatable {
        var id: Int
        var name: String
        var pet: Pet?
    }

    struct Age: Codable, Sendable, Equatable {
        enum CodingKeys: String, CodingKey { case years = "age", dotted = "a.b" }
        var years: Int
        var dotted: String?
    }

    struct Stubborn: Codable, Sendable {
        init(from decoder: any Decoder) throws { throw CancellationError() }
        func encode(to encoder: any Encoder) throws {}
    }

    @Test("A projection reads the fields that its type has, and no others")
    func projection() throws {
        let (_, people) = try fourPeople()
        let names = try people.find(["age": ["$lt": 20]]).projected(to: Name.self)
        #expect(names.hints["$fields"]?.documentValue?.equalsIgnoringKeyOrder(["_id": 1, "name": 1, "pet": 1]) == true)
        #expect(try names.all() == [Name(id: 1, name: "mike", pet: Pet(species: "cat")), Name(id: 3, name: "omar")])
        let ages = try people.find().projected(to: Age.self)
        #expect(ages.hints["$fields"]?.documentValue?.equalsIgnoringKeyOrder(["_id": 0, "age": 1, "a\\.b": 1]) == true)
        #expect(try ages.sorted(by: \.years).first() == Age(years: 7))
    }

    @Test("A projection is answered from an index that has its fields")
    func covered() throws {
        let (_, people) = try fourPeople()
        struct Years: Codable, Sendable { var age: Int }
        try people.ensureIndex("ages", on: ["age": .ascending])
        let query = people.find(["age": ["$gt": 8]], hints: ["$index": "ages"])
        let plan = try query.projected(to: Years.self).explain().plan
        #expect(plan.isCovered)
    }

    @Test("A type that reads all keys, or has no samples, is an error")
    func mistakes() throws {
        let (_, people) = try fourPeople()
        let all = #expect(throws: TansuError.self) { try people.find().projected(to: [String: Int].self) }
        #expect(all?.code == .invalidQuery)
        let stubborn = #expect(throws: TansuError.self) { try people.find().projected(to: Stubborn.self) }
        #expect(stubborn?.message.contains("CancellationError") == true)
    }

    @Test("An explanation has its parts, and prints as a few lines")
    func explanation() throws {
        let (_, people) = try fourPeople()
        let scan = try people.find(["age": ["$gt": 8]]).explain()
        #expect(scan.plan.kind == .scan && scan.plan.accesses.isEmpty && scan.plan.order == .none)
        #expect(scan.documentsExamined == 4 && scan.returned == 3)
        #expect(scan.suggestion == [Database.IndexKey("age")])
        #expect(scan.description.contains("suggested index: age ascending"))
        try people.ensureIndex("by_age", on: ["age": .ascending])
        let index = try people.find(["age": ["$gt": 8]], hints: ["$index": "by_age"]).sorted(by: "age").explain()
        #expect(index.plan.kind == .index && index.plan.order == .index)
        #expect(index.plan.accesses.map(\.index) == ["by_age"])
        #expect(index.plan.accesses.first?.ranges == ["age": [["$gt": 8]]])
        #expect(index.candidates.filter(\.isChosen).count == 1)
        #expect(index.suggestion == nil && index.keysExamined >= 3 && index.milliseconds >= 0)
        #expect(index.description.hasPrefix("index scan of by_age"))
        #expect(try people.find(["age": 7]).explain().description.contains("rejected plans: "))
        try people.insert((100..<400).map { ["_id": .int32($0), "age": .int32($0)] })
        let sorted = try people.find(["$or": [["age": 7], ["_id": 1]]]).sorted(by: "name", .descending).explain()
        #expect(sorted.plan.kind == .union && sorted.plan.order == .memory && sorted.plan.accesses.count == 2)
        #expect(sorted.description.hasPrefix("the union of"))
        let held = people.find([:]).sorted(by: "age").diskUse(false).maxMemory(1 << 20)
        #expect(held.hints["$allowDiskUse"] == .bool(false))
        #expect(try held.all().count == people.count())
        #expect(sorted.spilledBytes == 0 && !sorted.description.contains("spilled"))
        #expect(try people.find(["age": ["$in": []]]).explain().plan.kind == .none)
    }
}
