import Tansu
import TansuEJDBKit
import TansuTestSupport
import Testing

@Suite("Text of 24 hexadecimal digits as an ObjectID, as in EJDB")
struct ObjectIDTextTests {
    private static let honda = "50fe0a9935cf1e0300000000"
    private static let toyota = "50FE0A9935CF1E0300000002"
    private static let free = "50fe0a9935cf1e0300000009"

    private static func cars() throws -> (Database, Database.Collection<BSONDocument>) {
        let db = try Database(.memory)
        let cars = try db.ensureCollection(withName: "cars")
        try cars.saveObjects([["_id": .string(honda), "model": "Honda"], ["_id": .string(toyota), "model": "Toyota"]])
        return (db, cars)
    }

    @Test("Documents are saved, fetched and removed by it")
    func saving() throws {
        let (_, cars) = try Self.cars()
        let honda = try #require(ObjectID(Self.honda))
        #expect(try cars.get(honda)?["model"] == "Honda")
        #expect(try cars.get(Self.honda) == nil)
        #expect(try cars.fetchObject(withOID: Self.toyota)?["model"] == "Toyota")
        #expect(try cars.saveObject(["_id": .string(Self.honda.uppercased()), "model": "new"]) == .objectID(honda))
        #expect(try cars.count() == 2)
        #expect(try cars.removeObject(["_id": .string(Self.honda)]))
        #expect(try cars.removeObject(withOID: Self.toyota))
        #expect(try cars.count() == 0)
        // Other text is an id of its own, which EJDB does not have.
        #expect(try cars.saveObject(["_id": "123"]) == "123")
        #expect(try cars.saveObject(["_id": "50fe0a9935cf1e030000000g"]) == "50fe0a9935cf1e030000000g")
    }

    @Test("Conditions on _id find ObjectIDs by it, whatever is around them")
    func conditions() throws {
        let (db, cars) = try Self.cars()
        let (honda, toyota, free) = (
            BSONValue(stringLiteral: Self.honda), BSONValue(stringLiteral: Self.toyota),
            BSONValue(stringLiteral: Self.free)
        )
        let cases: [(BSONDocument, [String])] = [
            (["_id": honda], ["Honda"]), (["_id": free], []),
            (["_id": ["$in": [toyota, free, honda]]], ["Honda", "Toyota"]), (["_id": ["$nin": [toyota]]], ["Honda"]),
            (["_id": ["$eq": toyota]], ["Toyota"]), (["_id": ["$ne": toyota]], ["Honda"]),
            (["_id": ["$not": toyota]], ["Honda"]), (["_id": ["$not": ["$in": [honda]]]], ["Toyota"]),
            (["_id": ["$gt": honda]], ["Toyota"]), (["_id": ["$bt": [honda, honda]]], ["Honda"]),
            (["_id": ["$or": [["$eq": honda], ["$gt": toyota]]]], ["Honda"]),
            (["$or": [["_id": honda], ["model": "Toyota"]]], ["Honda", "Toyota"]),
            (["$and": [["_id": honda], ["$nor": [["_id": toyota]]]]], ["Honda"]),
            (["$not": ["_id": honda]], ["Toyota"]), (["model": honda], []), (["_id": ["$begin": "50"]], []),
        ]
        for (query, expected) in cases {
            let found = try db.findObjects(withQuery: query, inCollection: cars).compactMap { $0["model"]?.stringValue }
            #expect(found == expected, "\(query)")
            #expect(try EJDBQuery(collection: cars, query: query).fetchCount() == expected.count, "\(query)")
        }
        // Not in Tansu's own calls.
        #expect(try cars.count(["_id": honda]) == 0)
    }

    @Test("Updates find and insert by it")
    func updates() throws {
        let (_, cars) = try Self.cars()
        #expect(try cars.update(withQuery: ["_id": .string(Self.honda), "$set": ["year": 2005]]) == 1)
        #expect(try cars.fetchObject(withOID: Self.honda)?["year"] == 2005)
        #expect(try cars.update(withQuery: ["_id": .string(Self.free), "$upsert": ["year": 2008]]) == 0)
        #expect(try cars.fetchObject(withOID: Self.free)?["year"] == 2008)
        let text = BSONValue(stringLiteral: "50fe0a9935cf1e030000000a")
        #expect(try cars.update(withQuery: ["year": 1, "$upsert": ["_id": text, "year": 1]]) == 0)
        #expect(try cars.fetchObject(withOID: "50fe0a9935cf1e030000000a")?["year"] == 1)
    }

    @Test("Joins find documents by it: one, an array, in the hints, and with a part of them projected")
    func joins() throws {
        let (db, cars) = try Self.cars()
        let orders = try db.ensureCollection(withName: "orders")
        try orders.saveObjects([
            ["customer": "andy", "car": .string(Self.honda), "tried": [.string(Self.toyota), .string(Self.free)]],
            ["customer": "john", "car": .objectID(try #require(ObjectID(Self.toyota)))],
        ])
        let builder = EJDBQueryBuilder()
        builder.path("car", addCollectionToJoin: "cars")
        let found = try EJDBQuery(collection: orders, queryBuilder: builder).fetchObjects()
        #expect(found.map { $0[path: "car.model"] } == ["Honda", "Toyota"])
        #expect(found.first?["car"]?.documentValue == (try cars.fetchObject(withOID: Self.honda)))
        let tried = try db.findObjects(
            withQuery: ["customer": "andy", "$do": ["tried": ["$join": "cars"]]],
            hints: ["$fields": ["tried": 1, "_id": 0]], inCollection: orders)
        #expect(tried.first?[path: "tried.0.model"] == "Toyota")
        #expect(tried.first?[path: "tried.1"] == .string(Self.free))
        let models = try db.findObjects(
            withQuery: [:], hints: ["$do": ["car": ["$join": "cars"]], "$fields": ["car.model": 1, "_id": 0]],
            inCollection: "orders")
        #expect(models == [["car": ["model": "Honda"]], ["car": ["model": "Toyota"]]])
        let plain = try orders.find(["$do": ["car": ["$join": "cars"]]]).first()
        #expect(plain?["car"] == .string(Self.honda))
    }

    @Test("Objects are found and saved by it as documents are")
    func objects() throws {
        let db = try Database(.memory)
        let notes = try db.objects("notes", of: Note.self)
        try notes.saveObject(Note(document: ["id": .string(Self.honda), "text": "hello"]))
        #expect(try notes.fetchObject(withOID: Self.honda)?.text == "hello")
        #expect(
            try db.findObjects(withQuery: ["_id": .string(Self.honda)], inCollection: notes).map(\.text) == ["hello"])
        #expect(try notes.update(withQuery: ["_id": .string(Self.honda), "$set": ["text": "bye"]]) == 1)
        #expect(try notes.fetchObject(withOID: Self.honda)?.text == "bye")
    }
}

private struct Note: BSONArchiving {
    var id: BSONValue
    var text: String

    init(document: BSONDocument) {
        id = document["id"] ?? .null
        text = document["text"]?.stringValue ?? ""
    }

    func toDocument() -> BSONDocument { ["id": id, "text": .string(text)] }
}
