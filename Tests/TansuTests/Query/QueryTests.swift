import Tansu
import TansuTestSupport
import Testing

@Suite("Queries and hints")
struct QueryTests {
    @Test(
        "Operators select what the rules say",
        arguments: [
            (["age": 35], ["rosa", "lena"]),
            (["age": ["$gt": 7, "$lt": 35]], ["mike"]),
            (["age": ["$gte": 12, "$lte": 12]], ["mike"]),
            (["name": ["$in": ["omar", "lena"]]], ["omar", "lena"]),
            (["age": ["$nin": [7, 12]]], ["rosa", "lena"]),
            (["age": ["$ne": 35]], ["mike", "omar"]),
            (["pet": ["$exists": false]], ["omar"]),
            (["pet": ["species": "cat"], "age": 35], ["lena"]),
            (["$or": [["age": 7], ["pet.species": "dog"]]], ["rosa", "omar"]),
            (["$and": [["age": 35], ["name": ["$begin": "l"]]]], ["lena"]),
            (["$nor": [["age": 35], ["age": 7]]], ["mike"]),
            (["age": ["$not": ["$gte": 12]]], ["omar"]),
            (["tags": "b"], ["mike", "rosa"]),
            (["age": "35"], []),
        ] as [(BSONDocument, [String])])
    func operators(query: BSONDocument, names: [String]) throws {
        let (_, people) = try fourPeople()
        #expect(try people.names(query) == names)
        #expect(try people.count(query) == names.count)
    }

    @Test("Hints in the literal and the query's methods mean the same")
    func hints() throws {
        let (_, people) = try fourPeople()
        let literal = people.find(
            hints: ["$orderby": ["age": -1, "name": 1], "$skip": 1, "$max": 2, "$fields": ["name": 1]])
        let fluent = people.find().sorted(by: "age", .descending).sorted(by: "name").skip(1).limit(2)
            .fields(["name": 1])
        #expect(literal.hints.equalsIgnoringKeyOrder(fluent.hints))
        #expect(try literal.all() == [["_id": 2, "name": "rosa"], ["_id": 1, "name": "mike"]])
        #expect(try fluent.all() == literal.all())
    }

    @Test("Documents come in the order of their first insertion unless sorted")
    func order() throws {
        let (_, people) = try fourPeople()
        try people.save(["_id": 1, "name": "mika", "age": 12])
        #expect(try people.names() == ["mika", "rosa", "omar", "lena"])
        #expect(try people.names(hints: ["$orderby": ["age": 1]]) == ["omar", "mika", "rosa", "lena"])
    }

    @Test("First is the first of the order, and nil when nothing matches")
    func first() throws {
        let (_, people) = try fourPeople()
        #expect(try people.find().sorted(by: "age").first()?.name == "omar")
        #expect(try people.find().sorted(by: "age").skip(1).first()?.name == "mike")
        #expect(try people.find(["age": 99]).first() == nil)
    }

    @Test("A limit replaces one that the literal gave, by either name")
    func limit() throws {
        let (_, people) = try fourPeople()
        #expect(try people.find(hints: ["$limit": 3]).limit(1).all().count == 1)
        #expect(try people.find(hints: ["$max": 3]).limit(2).all().count == 2)
    }

    @Test("A count respects skip and limit")
    func count() throws {
        let (_, people) = try fourPeople()
        #expect(try people.find(["age": ["$gte": 7]]).count() == 4)
        #expect(try people.find().skip(1).limit(2).count() == 2)
    }

    @Test("Explain names the index of the query")
    func explain() throws {
        let (_, people) = try fourPeople()
        try people.ensureIndex("by_age", on: ["age": .ascending])
        #expect(try people.find(["age": 12]).explain().description.contains("by_age"))
    }

    @Test("An unknown operator, hint or operand is an error that names it")
    func unknown() throws {
        let (_, people) = try fourPeople()
        let cases: [(query: BSONDocument, hints: BSONDocument, name: String)] = [
            (["age": ["$near": 1]], [:], "$near"),
            (["$xor": [["age": 1]]], [:], "$xor"),
            (["age": ["$in": 5]], [:], "$in"),
            ([:], ["$sortby": ["age": 1]], "$sortby"),
        ]
        for (query, hints, name) in cases {
            let error = #expect(throws: TansuError.self) { try people.find(query, hints: hints).all() }
            #expect(error?.code == .invalidQuery)
            #expect(error?.description.contains(name) == true, "\(name) is not in \(String(describing: error))")
        }
    }

    @Test("A query is a value: it sees the database as it is each time it is run")
    func runsAgain() throws {
        let (_, people) = try fourPeople()
        let grown = people.find(["age": ["$gte": 18]])
        #expect(try grown.count() == 2)
        try people.save(["name": "ivan", "age": 50])
        #expect(try grown.count() == 3)
    }
}
