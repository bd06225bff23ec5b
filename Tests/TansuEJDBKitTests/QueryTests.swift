import Tansu
import TansuEJDBKit
import TansuTestSupport
import Testing

@Suite("EJDBKit's queries")
struct QueryTests {
    private static func people() throws -> (Database, Database.Collection<BSONDocument>) {
        let db = try Database(.memory)
        let people = try db.ensureCollection(withName: "people")
        try people.saveObjects([
            ["name": "joe", "age": 36, "pets": [["kind": "cat", "age": 3], ["kind": "dog", "age": 7]]],
            ["name": "jane", "age": 32, "pets": [["kind": "dog", "age": 1]]], ["name": "alisha", "age": 25],
        ])
        return (db, people)
    }

    private static func builder() -> EJDBQueryBuilder {
        let builder = EJDBQueryBuilder()
        builder.path("name", beginsWith: "j")
        builder.onlyFields(["name"])
        return builder
    }

    private static let fluent = EJDBFIQueryBuilder.build().beginsWith("name", "j").onlyFields(["name"])

    @Test("A query counts without reading, and says how many it found")
    func counts() throws {
        let (_, people) = try Self.people()
        let query = EJDBQuery(collection: people, query: ["name": ["$begin": "j"]])
        #expect(query.recordCount == 0)
        #expect(try query.fetchCount() == 2)
        #expect(query.recordCount == 2)
        #expect(try EJDBQuery(collection: people).fetchCount() == 3)
        query.hints = ["$max": 1]
        #expect(try query.fetchCount() == 1)
        query.hints = [:]
        #expect(try query.fetchObjects().count == 2)
        #expect(query.recordCount == 2)
        #expect(try query.fetchObject()?["name"] == "joe")
        #expect(query.recordCount == 1)
        query.query = ["name": "nobody"]
        #expect(try query.fetchObject() == nil)
        #expect(query.recordCount == 0)
    }

    @Test("A query can be run again")
    func again() throws {
        let (_, people) = try Self.people()
        let query = EJDBQuery(collection: people)
        #expect(try query.fetchObjects().count == 3)
        try people.saveObject(["name": "foo"])
        #expect(try query.fetchObjects().count == 4)
        #expect(query.recordCount == 4)
    }

    @Test("A wrong query is an error when it is run")
    func wrong() throws {
        let (db, people) = try Self.people()
        for query: BSONDocument in [["$begin": "j"], ["$name": ["$begin": "j"]]] {
            let made = db.createQuery(query, forCollection: people)
            for run: () throws -> Void in [
                { _ = try made.fetchCount() }, { _ = try made.fetchObject() }, { _ = try made.fetchObjects() },
            ] {
                let error = #expect(throws: TansuError.self) { try run() }
                #expect(error?.code == .invalidQuery)
            }
        }
        #expect(throws: TansuError.self) {
            try db.transaction(inCollection: people) { people in
                _ = try db.findObjects(withQuery: ["$name": "joe"], inCollection: people)
                return .commit
            }
        }
    }

    @Test("Queries are made from builders")
    func builders() throws {
        let (db, people) = try Self.people()
        #expect(
            try db.findObjects(withQueryBuilder: Self.builder(), inCollection: people).map { $0["name"] } == [
                "joe", "jane",
            ])
        #expect(
            try db.findObjects(withQueryBuilder: Self.fluent, inCollection: people).map { $0["age"] } == [nil, nil])
        #expect(try EJDBQuery(collection: people, queryBuilder: Self.builder()).fetchObject()?["name"] == "joe")
        #expect(try db.createQuery(withBuilder: Self.fluent, forCollection: people).fetchObjects().count == 2)
        #expect(try EJDBQuery(collection: people, queryBuilder: EJDBQueryBuilder()).fetchCount() == 3)
        let none = try db.ensureCollection(withName: "none")
        #expect(try EJDBQuery(collection: none, queryBuilder: EJDBFIQueryBuilder()).fetchObject() == nil)
    }

    @Test("A projection inside the query returns the element that matched, or a part of it")
    func projection() throws {
        let (db, people) = try Self.people()
        let dogs: BSONDocument = ["pets.kind": "dog", "pets.$": 1]
        let query = EJDBQuery(collection: people, query: dogs, hints: ["$fields": ["_id": 0]])
        #expect(
            try query.fetchObjects() == [
                ["pets": [["kind": "dog", "age": 7]]], ["pets": [["kind": "dog", "age": 1]]],
            ])
        #expect(try query.fetchCount() == 2)
        #expect(
            try db.findObjects(
                withQuery: ["pets.kind": "dog", "pets.$.age": true], hints: ["$fields": ["_id": 0, "name": 1]],
                inCollection: people) == [
                    ["name": "joe", "pets": [["age": 7]]], ["name": "jane", "pets": [["age": 1]]],
                ])
        let fluent = EJDBFIQueryBuilder.build().match("pets.age", 7).projection("pets")
        let found = try db.findObjects(withQueryBuilder: fluent, inCollection: people)
        #expect(found.map { $0["pets"] } == [[["kind": "dog", "age": 7]]])
        // Elsewhere "$" is the name of a field.
        #expect(try people.find(dogs).all().isEmpty)
    }

    @Test("Arrays are sliced by $do")
    func slices() throws {
        let (db, people) = try Self.people()
        let found = try db.findObjects(
            withQuery: ["name": "joe", "$do": ["pets": ["$slice": [1, 5]]]], inCollection: people)
        #expect(found.map { $0["pets"] } == [[["kind": "dog", "age": 7]]])
        #expect(found.map { $0["age"] } == [36])
    }

    @Test("An update without a query and operators updates nothing")
    func emptyUpdate() throws {
        let (_, people) = try Self.people()
        let before = try people.find().all()
        #expect(try people.update(withQuery: [:]) == 0)
        #expect(try people.update(withQuery: [:], hints: ["$max": 1]) == 0)
        #expect(try people.update(withQueryBuilder: EJDBQueryBuilder()) == 0)
        #expect(try people.find().all() == before)
        let error = #expect(throws: TansuError.self) { try people.update(withQuery: ["age": 36]) }
        #expect(error?.code == .invalidQuery)
    }

    @Test("A builder updates")
    func builderUpdates() throws {
        let (_, people) = try Self.people()
        #expect(try people.update(withQueryBuilder: EJDBFIQueryBuilder.build().match("age", 36).set(["age": 37])) == 1)
        let builder = EJDBQueryBuilder()
        builder.path("age", greaterThan: 30)
        builder.increment(["age": 1])
        builder.unset(["pets"])
        #expect(try people.update(withQueryBuilder: builder) == 2)
        #expect(try people.find().all().map { $0["age"] } == [38, 33, 25])
        #expect(try people.count(["pets": ["$exists": true]]) == 0)
        #expect(try people.update(withQueryBuilder: EJDBFIQueryBuilder.build().match("age", 38).dropAll()) == 1)
        #expect(try people.count() == 2)
    }
}
