import Tansu
import TansuTestSupport
import TansuBSON
import Testing

@Suite("Values of Codable types")
struct CodableCollectionTests {
    @Test("A saved value comes back equal, and its id property is stored as _id")
    func roundTrip() throws {
        let db = try Database(.memory)
        let people = try db.collection("people", of: Person.self)
        let id = try people.save(.mike)
        #expect(id == BSONValue(Person.mike.id))
        #expect(try people.get(Person.mike.id) == .mike)
        let stored = try #require(try db.collection("people").find().first())
        #expect(stored.keys.first == "_id")
        #expect(!stored.contains(key: "id"))
        #expect(stored["pet"]?.documentValue == ["species": "cat"])
    }

    @Test("Values are found by query, with nested and missing fields as they were")
    func find() throws {
        let people = try Database(.memory).collection("people", of: Person.self)
        #expect(try people.save([.mike, .rosa, .omar]).count == 3)
        #expect(try people.find(["pet.species": "cat"]).all() == [.mike])
        #expect(try people.find(["age": ["$lt": 30]]).sorted(by: "age").all() == [.omar, .mike])
        #expect(try people.find(["name": "nobody"]).first() == nil)
    }

    @Test("Replacing a value keeps one document")
    func update() throws {
        let people = try Database(.memory).collection("people", of: Person.self)
        try people.insert(.mike)
        var older = Person.mike
        older.age = 13
        try people.replace(older)
        #expect(try people.find().all() == [older])
    }

    @Test("Fields of a query come back as another type")
    func projection() throws {
        struct Name: Codable, Hashable, Sendable { var name: String }
        let people = try Database(.memory).collection("people", of: Person.self)
        try people.save([.mike, .rosa])
        let names = [Name(name: "mike"), Name(name: "rosa")]
        #expect(try people.find().fields(["name": 1]).decoded(as: Name.self).all() == names)
        #expect(try people.find(hints: ["$fields": ["name": 1]], as: Name.self).all() == names)
    }

    @Test("A document of another shape is a DecodingError")
    func otherShape() throws {
        let db = try Database(.memory)
        try db.collection("people").save(["name": "mike", "age": "twelve"])
        let people = try db.collection("people", of: Person.self)
        #expect(throws: DecodingError.self) { try people.find().all() }
    }

    @Test("A collection of documents by type is the collection of documents")
    func documentsByType() throws {
        let people = try Database(.memory).collection("people", of: BSONDocument.self)
        try people.save(["_id": 1, "id": 2])
        #expect(try people.get(1) == ["_id": 1, "id": 2])
    }

    /// A type that leaves a mark when it writes or reads its own fields.
    private struct Counter: Codable, Hashable, Sendable, BSONWritable, BSONReadable {
        var id: Int
        var count: Int
        var wasRead = false

        init(id: Int, count: Int) {
            self.id = id
            self.count = count
        }

        func write(to fields: inout BSONFieldWriter) throws {
            fields.write("_id", id)
            fields.write("count", count)
            fields.write("isDirect", true)
        }

        init(reading fields: inout BSONFieldReader) throws {
            id = try fields.read("_id")
            count = try fields.read("count")
            wasRead = true
        }
    }

    @Test("A type that writes and reads its own fields does so in a collection")
    func directCoding() throws {
        let db = try Database(.memory)
        let counters = try db.collection("counters", of: Counter.self)
        try counters.save([Counter(id: 1, count: 5), Counter(id: 2, count: 7)])
        let stored: [BSONDocument] = [
            ["_id": 1, "count": 5, "isDirect": true], ["_id": 2, "count": 7, "isDirect": true],
        ]
        #expect(try db.collection("counters").find().all() == stored)
        let found = try counters.find(["count": ["$gt": 6]]).all()
        #expect(found.map(\.id) == [2])
        #expect(found.map(\.wasRead) == [true])
    }

    @Test("A value that encodes one key twice is rejected, and nothing is stored")
    func oneKeyTwice() throws {
        struct Twice: Codable, Sendable {
            enum CodingKeys: String, CodingKey { case a }
            init() {}
            init(from decoder: any Decoder) throws {}
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(1, forKey: .a)
                try container.encode(2, forKey: .a)
            }
        }
        let values = try Database(.memory).collection("values", of: Twice.self)
        #expect(throws: TansuError.self) { try values.save(Twice()) }
        #expect(try values.find().count() == 0)
    }
}
