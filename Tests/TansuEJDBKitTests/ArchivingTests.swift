import Tansu
import TansuEJDBKit
import TansuTestSupport
import Testing

/// As in EJDBKit: a class with its own name for the id, filled by keys.
private class Archivable: BSONUpdating, CustomStringConvertible, @unchecked Sendable {
    // Unchecked because a test uses each from one thread.
    var oid: String?
    var name: String?
    var age: Int?

    required init() {}

    class var oidPropertyName: String { "oid" }

    func toDocument() throws -> BSONDocument {
        var document: BSONDocument = ["type": .string(String(describing: Swift.type(of: self)))]
        document["name"] = name.map { .string($0) }
        document["age"] = age.map { BSONValue($0) }
        return document
    }

    func update(from document: BSONDocument) throws {
        for (key, value) in document {
            switch key {
            case "oid": oid = value.objectIDValue?.hexString
            case "name": name = value.stringValue
            case "age": age = value.intValue
            default: throw TansuError(.invalidDocument, "unknown key", context: key)
            }
        }
    }

    var description: String { "\(Swift.type(of: self)) \(name ?? "-") \(age ?? -1)" }
}

/// The README's bad example: it says that its id is "123".
private final class BogusID: Archivable, @unchecked Sendable {
    override func toDocument() throws -> BSONDocument {
        var document = try super.toDocument()
        document["_id"] = "123"
        return document
    }
}

private struct Point: BSONArchiving, Equatable {
    static let archivedTypeName = "geo.point"
    var id: ObjectID?
    var x: Int

    init(id: ObjectID? = nil, x: Int) {
        self.id = id
        self.x = x
    }

    init(document: BSONDocument) throws {
        guard let x = document["x"]?.intValue else { throw TansuError(.invalidDocument, "no x") }
        self.init(id: document["id"]?.objectIDValue, x: x)
    }

    func toDocument() -> BSONDocument { ["id": id.map { BSONValue($0) } ?? .null, "x": BSONValue(x)] }
}

/// Returns any document as its own.
private struct Saying: BSONArchiving {
    static let oidPropertyName = "key"
    var document: BSONDocument

    init(document: BSONDocument) { self.document = document }
    func toDocument() throws -> BSONDocument { document }
}

@Suite("Objects that archive themselves")
struct ArchivingTests {
    private func database() throws -> Database {
        let db = try Database(.memory)
        for type in [Archivable.self, BogusID.self, Point.self, Saying.self] as [any BSONArchiving.Type] {
            try db.types.register(type)
        }
        return db
    }

    @Test("An object is stored with its type's name and found again as an object of that type")
    func goodExample() throws {
        let db = try database()
        let objects = try db.objects("objects")
        let object = Archivable()
        (object.name, object.age) = ("mike", 12)
        let id = try objects.save(object)
        #expect(
            try db.collection("objects").get(id) == ["_id": id, "type": "Archivable", "name": "mike", "age": 12])

        let found = try #require(try objects.find(["name": "mike"]).first() as? Archivable)
        #expect(found.oid == id.objectIDValue?.hexString)
        #expect(found.name == "mike" && found.age == 12)
        #expect(try objects.get(id) is Archivable)
    }

    @Test("An object with an invalid id is rejected, and nothing is saved")
    func badExample() throws {
        let db = try database()
        let objects = try db.objects("objects")
        let bogus = BogusID()
        bogus.name = "mike"
        let error = #expect(throws: TansuError.self) { try objects.save(bogus) }
        #expect(error?.code == .invalidID)
        #expect(error?.context == "BogusID.oid")
        let together = #expect(throws: TansuError.self) { try objects.save([Point(x: 1), bogus, Point(x: 2)]) }
        #expect(together?.code == .invalidID)
        #expect(try objects.count() == 0)
    }

    @Test(
        "Ids of other types, and two different ids, are rejected",
        arguments: [
            ["key": 7], ["_id": 7], ["key": "0123"], ["key": "zz3456789012345678901234"], ["key": ["a": 1]],
            ["_id": "aaaaaaaaaaaaaaaaaaaaaaaa", "key": "bbbbbbbbbbbbbbbbbbbbbbbb"],
        ] as [BSONDocument])
    func invalidIDs(document: BSONDocument) throws {
        let objects = try database().objects("objects")
        let error = #expect(throws: TansuError.self) { try objects.save(Saying(document: document)) }
        #expect(error?.code == .invalidID)
        #expect(try objects.count() == 0)
    }

    @Test("The id is given as an ObjectID or its digits, under either name, or not at all")
    func validIDs() throws {
        let db = try database()
        let objects = try db.objects("objects", of: Saying.self)
        let id = ObjectID()
        for document: BSONDocument in [
            ["key": .objectID(id)], ["_id": .string(id.hexString)],
            ["key": .string(id.hexString), "_id": .objectID(id)],
        ] {
            #expect(try objects.save(Saying(document: document)) == .objectID(id))
        }
        #expect(try objects.count() == 1)
        #expect(try objects.get(id)?.document == ["key": .objectID(id)])
        try objects.save(Saying(document: ["key": nil, "a": 1]))
        try objects.save(Saying(document: ["a": 2]))
        #expect(try objects.count() == 3)
    }

    @Test("Objects of several types share a collection, and each is read as its type")
    func mixed() throws {
        let db = try database()
        let objects = try db.objects("objects")
        let object = Archivable()
        object.name = "mike"
        try objects.save([Point(x: 1), object, Point(x: 3)])
        let found = try objects.find().all()
        #expect(found.compactMap { ($0 as? Point)?.x } == [1, 3])
        #expect(found.compactMap { ($0 as? Archivable)?.name } == ["mike"])
        #expect(try db.objects("objects", of: Point.self).find(["type": "geo.point"]).all().map(\.x) == [1, 3])
        let error = #expect(throws: TansuError.self) { try db.objects("objects", of: Point.self).find().all() }
        #expect(error?.code == .invalidDocument)
        #expect(error?.context == "geo.point")
    }

    @Test("A document of an unknown type keeps its name and every field when it is saved again")
    func unknownTypes() throws {
        let db = try database()
        let documents = try db.collection("objects")
        let stored: [BSONDocument] = [
            [
                "_id": 1, "z": 1, "type": "Vanished", "pet": ["type": "Point", "x": [1, nil]],
                "a": .decimal128(Decimal128(1)),
            ],
            ["z": 1, "_id": "no type", "a": .minKey],
            ["_id": 3, "type": ["a", "list"]],
        ]
        try documents.save(stored)
        let objects = try db.objects("objects")
        let found = try objects.find().all()
        #expect(found.map { ($0 as? ArchivedObject)?.typeName } == ["Vanished", nil, nil])
        try objects.save(found)
        #expect(try documents.find().all() == stored)

        var changed = try #require(found.first as? ArchivedObject)
        changed.document["z"] = 2
        try objects.save(changed)
        #expect(try documents.get(1)?.keys == stored[0].keys)
        #expect(try documents.get(1)?["z"] == 2)
    }

    @Test("Removing and refreshing go by the object's id")
    func removeAndRefresh() throws {
        let db = try database()
        let points = try db.objects("points", of: Point.self)
        let id = try points.save(Point(x: 1))
        let point = try #require(try points.get(id))
        #expect(try points.remove(point))
        #expect(try !points.remove(point))
        let error = #expect(throws: TansuError.self) { try points.remove(Point(x: 1)) }
        #expect(error?.code == .invalidID)
        #expect(try !db.objects("points").remove(point))

        let people = try db.objects("people", of: Remembering.self)
        let person = Remembering()
        person.name = "mike"
        let personID = try people.save(person)
        person.oid = personID.objectIDValue?.hexString
        try db.collection("people").update(["name": "mike"], ["$set": ["name": "michael"]])
        #expect(try people.refresh(person))
        #expect(person.name == "michael")
        try people.remove(person)
        #expect(try !people.refresh(person))
    }

    @Test("A type that is not registered is not saved")
    func unregistered() throws {
        let objects = try Database(.memory).objects("objects")
        let error = #expect(throws: TansuError.self) { try objects.save(Point(x: 1)) }
        #expect(error?.code == .invalidArgument)
        #expect(error?.context == "geo.point")
        #expect(try objects.count() == 0)
    }

    @Test("Registering rejects a name that exists, and invalid names of the id")
    func registering() throws {
        struct Impostor: BSONArchiving {
            static let archivedTypeName = "geo.point"
            init(document: BSONDocument) {}
            func toDocument() -> BSONDocument { [:] }
        }
        struct Nameless: BSONArchiving {
            static let oidPropertyName = "type"
            init(document: BSONDocument) {}
            func toDocument() -> BSONDocument { [:] }
        }
        let types = try BSONTypeRegistry([Point.self, Point.self])
        #expect(types.type(named: "geo.point") == Point.self)
        let taken = #expect(throws: TansuError.self) { try types.register(Impostor.self) }
        #expect(taken?.code == .exists)
        let key = #expect(throws: TansuError.self) { try types.register(Nameless.self) }
        #expect(key?.code == .invalidArgument)
        try BSONTypeRegistry(typeKey: "class").register(Nameless.self)
    }

    @Test("The field of the type's name is the registry's: another one is free for the type's own use")
    func typeKey() throws {
        let db = try database()
        let clash = #expect(throws: TansuError.self) {
            try db.objects("a").save(Saying(document: ["type": "of mine"]))
        }
        #expect(clash?.code == .invalidDocument)
        #expect(clash?.context == "Saying.type")

        let types = try BSONTypeRegistry([Saying.self], typeKey: "class")
        let id = try db.objects("a", types: types).save(Saying(document: ["type": "of mine"]))
        #expect(try db.collection("a").get(id) == ["_id": id, "class": "Saying", "type": "of mine"])
        let found = try db.objects("a", types: types).get(id) as? Saying
        #expect(found?.document == ["key": id, "type": "of mine"])
    }

    @Test("A document with a field called as the type calls its id is an error")
    func ambiguous() throws {
        let db = try database()
        try db.collection("a").save(["_id": 1, "type": "Saying", "key": 2])
        let error = #expect(throws: TansuError.self) { try db.objects("a").find().all() }
        #expect(error?.code == .invalidDocument)
        #expect(error?.context == "Saying.key")
    }

    @Test("Objects in a transaction, and the async variants")
    func transactionsAndTwins() async throws {
        struct Stop: Error {}
        let db = try database()
        #expect(throws: Stop.self) {
            try db.write { tx in
                try tx.objects("points").save(Point(x: 1))
                #expect(try tx.objects("points", of: Point.self).count() == 1)
                throw Stop()
            }
        }
        let points = try db.objects("points")
        let id = try await points.save(Point(x: 5))
        let point = try #require(try await points.get(id) as? Point)
        #expect(try await points.remove(point))
        let typed = try db.objects("points", of: Point.self)
        let other = try await typed.save(Point(x: 6))
        let again = try #require(try await typed.find().first())
        #expect(again == Point(id: other.objectIDValue, x: 6))
        #expect(try await typed.remove(again))
    }
}

private final class Remembering: Archivable, @unchecked Sendable {
    override func toDocument() throws -> BSONDocument {
        var document = try super.toDocument()
        document["oid"] = oid.map { .string($0) }
        return document
    }
}
