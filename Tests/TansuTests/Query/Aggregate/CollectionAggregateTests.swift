import Tansu
import TansuTestSupport
import Testing

@Suite("Distinct values and groups")
struct CollectionAggregateTests {
    @Test("The distinct values of a path are sorted, an array by its elements")
    func distinct() throws {
        let (_, people) = try fourPeople()
        #expect(try people.distinct("age") == [7, 12, 35])
        #expect(try people.distinct("tags") == ["a", "b"])
        #expect(try people.distinct("pet.species", ["age": ["$lt": 30]]) == ["cat"])
        #expect(try people.distinct("age", hints: ["$skip": 1, "$max": 1]) == [12])
        #expect(try people.distinct("nothing").isEmpty)
    }

    @Test("Groups have their aggregates, in the order of the group keys")
    func groups() throws {
        let (_, people) = try fourPeople()
        let groups = try people.aggregate(
            ["pet": ["$exists": true]],
            group: ["by": "pet.species", "fields": ["n": ["$count": true], "age": ["$avg": "age"]]])
        #expect(groups.map { $0["n"]?.intValue } == [2, 1])
        #expect(groups.map { $0["age"]?.doubleValue } == [23.5, 35])
        let named = try people.aggregate(
            group: ["by": ["years": "age"], "fields": ["names": ["$distinct": "name"]]],
            hints: ["$orderby": ["years": -1], "$max": 1])
        #expect(named == [["years": 35, "names": ["lena", "rosa"]]])
    }

    @Test("Without a path there is one group, also of no documents")
    func oneGroup() throws {
        let (_, people) = try fourPeople()
        let all: BSONDocument = ["fields": ["n": ["$count": true], "sum": ["$sum": "age"]]]
        let group = try #require(try people.aggregate(group: all).first)
        #expect(group["n"]?.intValue == 4 && group["sum"]?.intValue == 89)
        let none = try people.aggregate(["age": 1], group: all)
        #expect(none.count == 1)
        #expect(none.first?["n"]?.intValue == 0)
    }

    @Test("An unknown operator and an invalid path are errors with their location")
    func mistakes() throws {
        let (_, people) = try fourPeople()
        let median = #expect(throws: TansuError.self) {
            try people.aggregate(group: ["fields": ["n": ["$median": "age"]]])
        }
        #expect(median?.code == .invalidQuery)
        #expect(median?.context == "group.fields.n.$median")
        let path = #expect(throws: TansuError.self) { try people.distinct("a\0b") }
        #expect(path?.code == .invalidQuery)
    }

    @Test("With $explain the plan is returned instead")
    func explain() throws {
        let (_, people) = try fourPeople()
        let plan = try people.aggregate(group: ["by": "age"], hints: ["$explain": true])
        #expect(plan.count == 1)
        #expect(plan.first?["plan"] != nil)
        #expect(try people.distinct("age", hints: ["$explain": true]).first?.documentValue?["plan"] != nil)
    }

    @Test("A transaction sees what it wrote")
    func transaction() throws {
        let (db, people) = try fourPeople()
        try db.write { transaction in
            let inside = try transaction.collection("people")
            try inside.save(["_id": 5, "age": 99])
            #expect(try inside.distinct("age", ["age": ["$gt": 12]]) == [35, 99])
            #expect(try people.distinct("age", ["age": ["$gt": 12]]) == [35])
        }
    }

    @Test("The async variants do the same")
    func asyncVariants() async throws {
        let people = try fourPeople().1
        #expect(try await people.distinct("age", ["pet.species": "cat"]) == [12, 35])
        let groups = try await people.aggregate(
            group: ["by": "age", "fields": ["n": ["$count": true]]], hints: ["$orderby": ["n": -1], "$max": 1])
        #expect(groups.map { $0["age"] } == [35])
        #expect(groups.first?["n"]?.intValue == 2)
    }
}
