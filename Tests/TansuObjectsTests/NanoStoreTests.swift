import Foundation
import TansuObjects
import TansuTestSupport
import Testing

/// What the tests of NanoStore do with their store, where no other test has it: with documents like theirs, which are searched
/// by any attribute and value.
@Suite("What NanoStore's users do")
struct NanoStoreTests {
    struct Car: Codable, Sendable, Identifiable, Hashable { var id: String; var name: String }
    struct Person: Codable, Sendable, Identifiable, Hashable { var id: Int; var name: String; var last: String }

    let db: Database
    let objects: Database.Collection<BSONDocument>

    init() throws {
        db = try Database(.memory)
        objects = try db.collection("objects")
    }

    private static func person(_ id: Int, _ name: String = "Tito", number: Int = 5) -> BSONDocument {
        [
            "_id": BSONValue(id), "FirstName": .string(name), "LastName": "Ciuro", "SomeNumber": BSONValue(number),
            "Rating": "Very Good",
            "Countries": ["Spain": "Barcelona", "USA": "San Francisco", "France": ["Nice": "Cassoulet"]],
        ]
    }

    @Test(
        "An id, an attribute, a value anywhere, or several of them find objects, with and without an index of all values",
        arguments: [
            ([:], [1, 2, 3]),
            (["_id": 1], [1]),
            (["_id": 1, "Countries.France.Nice": ["$exists": true]], [1]),
            (["_id": 1, "Countries.France.Nice": "Cassoulet"], [1]),
            (["_id": 1, "**": "Cassoulet"], [1]),
            (["Countries.France.Nice": ["$exists": true]], [1, 2]),
            (["Countries.France.Nice": "Cassoulet"], [1, 2]),
            (["Countries.Spain": "Barcelona"], [1, 2]),
            (["**": "Cassoulet"], [1, 2]),
            (["**": ["$begin": "Llava"]], [3]),
            (["**": 7], [2]),
            (["**": "7"], []),
            (["Rating": "nothing"], []),
        ] as [(BSONDocument, [Int])])
    func anyAttribute(query: BSONDocument, ids: [Int]) throws {
        try objects.save([
            Self.person(1), Self.person(2, "Jane", number: 7),
            ["_id": 3, "FirstName": "John", "Countries": ["Spain": "Llavaneres", "Rating": "Very Good"]],
        ])
        #expect(try objects.find(query).all().map { $0["_id"]?.intValue } == ids)
        try objects.ensureWildcardIndex()
        #expect(try objects.find(query).all().map { $0["_id"]?.intValue } == ids)
        #expect(try objects.find(query).fields(["_id": 1]).all().count == ids.count)
    }

    @Test(
        "Text matches as in NanoStore: equal, begins, contains, ends, each ignoring case, greater and less",
        arguments: [
            ("$eq", "Very Good", true), ("$eq", "very good", false), ("$begin", "Very", true),
            ("$begin", "very", false),
            ("$contains", "y G", true), ("$contains", "y g", false), ("$endsWith", "Good", true),
            ("$endsWith", "good", false), ("$gt", "G", true), ("$gt", "g", false), ("$lt", "vd", true),
            ("$lt", "Very", false), ("$ne", "Very Good", false),
        ])
    func matches(name: String, value: String, isFound: Bool) throws {
        try objects.save(Self.person(1))
        let condition: BSONDocument = [name: .string(value)]
        #expect(try objects.count(["Rating": .document(condition)]) == (isFound ? 1 : 0))
        #expect(try objects.count(["**": .document(condition)]) >= (isFound ? 1 : 0))
        guard !["$gt", "$lt", "$ne"].contains(name) else { return }
        let ignoringCase: BSONDocument = ["$icase": .document([name: .string(value.uppercased())])]
        #expect(try objects.count(["Rating": .document(ignoringCase)]) == 1)
        #expect(try objects.count(["**": .document(ignoringCase)]) == 1)
    }

    @Test("Expressions are joined, and their results sorted, skipped and limited")
    func expressions() throws {
        try objects.save((0..<10).map { Self.person($0, number: 9 - $0) })
        let both: BSONDocument = [
            "$and": [["FirstName": "Tito"], ["Countries.Spain": ["$endsWith": "celona"]], ["**": "Cassoulet"]]
        ]
        let some = objects.find(both).sorted(by: "SomeNumber").skip(3).limit(5)
        #expect(try some.all().map { $0["_id"]?.intValue } == [6, 5, 4, 3, 2])
        #expect(try some.fields(["_id": 1]).all().map(\.count) == [1, 1, 1, 1, 1])
        #expect(try objects.find(["**": "Barcelona"]).sorted(by: "SomeNumber").skip(3).limit(5).all().count == 5)
    }

    @Test("Null is a value that is found, and differs from all others")
    func null() throws {
        try objects.save([["_id": 1, "name": "Leo'd", "last": "Doe"], ["_id": 2, "name": "foo", "last": .null]])
        func ids(_ query: BSONDocument) throws -> [Int?] { try objects.find(query).all().map { $0["_id"]?.intValue } }
        for _ in 0..<2 {
            #expect(try ids(["last": ["$type": "null"]]) == [2])
            #expect(try ids(["**": ["$type": "null"]]) == [2])
            #expect(try ids(["last": ["$ne": .null]]) == [1])
            try objects.ensureWildcardIndex()
        }
        #expect(try objects.get(2)?["last"] == .null)
    }

    @Test("Quotes in a value are a part of it")
    func quotes() throws {
        let people = try db.collection("people", of: Person.self)
        let leo = Person(id: 1, name: "Leo'd \"X\"", last: "Doe")
        try people.save([leo, Person(id: 2, name: "Leod", last: "Doe")])
        #expect(try people.find { $0.name == "Leo'd \"X\"" && $0.last == "Doe" }.all() == [leo])
        #expect(try people.find(["**": "Leo'd \"X\""]).all() == [leo])
    }

    @Test("Each type has its collection, where its values are found, counted and sorted")
    func types() throws {
        try db.use(
            Model {
                Entity("cars", of: Car.self)
                Entity("people", of: Person.self)
            })
        let (car, person) = (Car(id: "c", name: "Mercedes"), Person(id: 1, name: "Mercedes", last: "Doe"))
        try db.save(graph: [car, person, Car(id: "d", name: "Austin")])
        let (cars, people) = (try db.collection(of: Car.self), try db.collection(of: Person.self))
        #expect(try db.collectionNames().filter { !$0.hasPrefix("tansu.") } == ["cars", "people"])
        #expect(try cars.find { $0.name == "Mercedes" }.all() == [car])
        #expect(try cars.find().sorted(by: \.name).all().map(\.name) == ["Austin", "Mercedes"])
        #expect(try cars.find().limit(1).fields(["_id": 1]).decoded(as: BSONDocument.self).all() == [["_id": "c"]])
        #expect(try people.count() == 1)
        #expect(try db.collection("unknown").count() == 0)
    }

    @Test("A bag has its documents as they are stored now, and is searched")
    func bags() throws {
        try db.use(Model { Entity("people", of: Person.self) })
        let people = try db.collection(of: Person.self)
        let all = (1...4).map { Person(id: $0, name: $0 == 4 ? "Jane" : "Tito", last: "Doe") }
        try people.save(all)
        let bag = try db.bag("friends")
        #expect(try bag.add([Person]()) == 0)
        #expect(try bag.add([all[3], all[1]]) == 2)
        #expect(try bag.find(Person.self).and { $0.name == "Tito" }.all() == [all[1]])
        try people.update(id: 2) { $0.last = "Magnus" }
        #expect(try bag.objects(of: Person.self).map(\.last) == ["Doe", "Magnus"])
        #expect(try bag.keys() == db.bag("friends").keys())
    }

    @Test("Objects are found by the dates of their insertion and last save")
    func dates() throws {
        try db.setTimestamps(Database.Timestamps(), of: "objects")
        try objects.save([Self.person(1), Self.person(2, "Jane")])
        try objects.update(["_id": 1], ["$set": ["Rating": "Good"]])
        let (before, after) = (Date(timeIntervalSinceNow: -3600), Date(timeIntervalSinceNow: 3600))
        for field in ["createdAt", "updatedAt"] {
            #expect(try objects.count([field: ["$lt": BSONValue(after)]]) == 2)
            #expect(try objects.count([field: ["$gt": BSONValue(before)]]) == 2)
            #expect(try objects.count([field: ["$lt": BSONValue(before)]]) == 0)
            let jane = objects.find([field: ["$gt": BSONValue(before)], "FirstName": "Jane"])
            #expect(try jane.fields(["_id": 1]).all() == [["_id": 2]])
        }
        #expect(try objects.find(savedBefore: after).count() == 2 && objects.find(savedAfter: after).count() == 0)
    }

    @Test("All objects are removed, and indexes dropped and made again")
    func removal() throws {
        try objects.save([Self.person(1), Self.person(2)])
        try objects.ensureWildcardIndex("everything")
        #expect(try objects.remove([:]) == 2)
        #expect(try objects.count() == 0)
        #expect(try objects.count(["**": "Barcelona"]) == 0)
        try objects.dropIndex("everything")
        #expect(try objects.indexes().isEmpty)
        try objects.ensureWildcardIndex("everything")
        #expect(try objects.indexes().map(\.name) == ["everything"])
    }

    @Test("The statistics have the kind of a store, and the path of one in a folder")
    func path() throws {
        let folder = try TemporaryFolder()
        let stored = try Database(path: folder.path("foo"))
        #expect(try stored.stats()["path"]?.stringValue == folder.path("foo"))
        try stored.close()
        #expect(try db.stats()["path"] == nil)
        #expect(try db.stats()["store"] == "memory")
    }

    @Test("Objects and what the store has are described in text")
    func descriptions() throws {
        try objects.save(["_id": 1, "name": "foo"])
        #expect(try objects.get(1)?.description == #"{"_id":1,"name":"foo"}"#)
        #expect(try objects.find(["name": "foo"]).explain().description.hasPrefix("collection scan"))
        #expect(try db.collections().map(\.name) == ["objects"])
    }
}
