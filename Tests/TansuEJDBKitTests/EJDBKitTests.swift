import Foundation
import Tansu
import TansuEJDBKit
import TansuTestSupport
import Testing

private struct Circle: BSONArchiving {
    var id: ObjectID?
    var radius: Double

    init(radius: Double) { self.radius = radius }

    func toDocument() -> BSONDocument {
        ["id": id.map { BSONValue($0) } ?? .null, "radius": .double(radius)]
    }

    init(document: BSONDocument) throws {
        id = document["id"]?.objectIDValue
        radius = document["radius"]?.doubleValue ?? 0
    }
}

@Suite("The API of EJDBKit")
struct EJDBKitTests {
    private struct Refused: Error {}

    @Test("Collections are created, found and dropped by name")
    func collections() throws {
        let db = try Database(.memory)
        #expect(try db.collection(withName: "foo") == nil)
        let foo = try db.ensureCollection(withName: "foo")
        try foo.saveObject(["first name": "foo", "last name": "bar"])
        #expect(try db.collection(withName: "foo")?.count() == 1)
        try db.ensureCollection(withName: "foo")
        #expect(try foo.count() == 1)
        #expect(try db.removeCollection(withName: "foo"))
        #expect(try !db.removeCollection(withName: "foo"))
        let error = #expect(throws: TansuError.self) { try db.ensureCollection(withName: "") }
        #expect(error?.code == .invalidName)
    }

    @Test("Objects are found by query, with hints, by the collection or its name")
    func finding() throws {
        let db = try Database(.memory)
        let people = try db.ensureCollection(withName: "people")
        let ids = try people.saveObjects([
            ["first name": "foo", "age": 1], ["first name": "fred", "age": 2], ["first name": "bar", "age": 3],
        ])
        let query: BSONDocument = ["first name": ["$begin": "f"]]
        #expect(try db.findObjects(withQuery: query, inCollection: people).count == 2)
        #expect(
            try db.findObjects(
                withQuery: query, hints: ["$fields": ["first name": 1, "_id": 0], "$orderby": ["age": -1]],
                inCollection: "people") == [["first name": "fred"], ["first name": "foo"]])
        #expect(throws: TansuError.self) { try db.findObjects(withQuery: ["a": ["$nope": 1]], inCollection: "people") }

        let oid = try #require(ids[0].objectIDValue).hexString
        #expect(try people.fetchObject(withOID: oid)?["age"] == 1)
        #expect(try people.removeObject(withOID: oid))
        #expect(try people.fetchObject(withOID: oid) == nil)
        for call: () throws -> Void in [
            { _ = try people.fetchObject(withOID: "123") }, { try people.removeObject(withOID: "") },
            { try people.removeObject(["first name": "fred"]) },
        ] {
            let error = #expect(throws: TansuError.self) { try call() }
            #expect(error?.code == .invalidID)
        }
        let fred = try #require(try db.findObjects(withQuery: query, inCollection: people).first)
        #expect(try people.removeObject(fred))
        #expect(try people.count() == 1)
    }

    @Test("Documents come back as they were, whatever is in them")
    func everyField() throws {
        let db = try Database(.memory)
        let foo = try db.ensureCollection(withName: "foo")
        let document: BSONDocument = [
            "name": "Антонов", "age": 33, "score": .int64(0xFF_FFFF_FF01), "ratio": 0.333333,
            "address": ["city": "Novosibirsk", "room": 334, "fax": nil],
            "list": [["foo": "bar", "foo2": ["a", nil]], 333, ["0": "red"]],
            "image": .binary(BSONBinary(Data([0, 255]))),
            "date": .date(1_700_000_000_123), "married": false,
        ]
        let id = try foo.saveObject(document)
        let found = try #require(try db.findObjects(withQuery: ["name": "Антонов"], inCollection: foo).first)
        #expect(found["_id"] == id)
        #expect(Array(found.keys.dropFirst()) == Array(document.keys))
        for (key, value) in document { #expect(found[key] == value) }
        // An object inside a document is its document; whoever reads it makes the object.
        try foo.saveObject(["shape": .document(Circle(radius: 2).toDocument())])
        let nested = try db.findObjects(withQuery: ["shape.radius": 2], inCollection: foo).first?["shape"]?
            .documentValue
        #expect(try Circle(document: #require(nested)).radius == 2)
    }

    @Test("Objects are found as their types")
    func objects() throws {
        let db = try Database(.memory)
        try db.types.register(Circle.self)
        let shapes = try db.objects("shapes")
        let id = try shapes.saveObject(Circle(radius: 2))
        try shapes.saveObject(Circle(radius: 3))
        let found = try db.findObjects(withQuery: ["radius": ["$gt": 2]], inCollection: shapes)
        #expect(found.compactMap { ($0 as? Circle)?.radius } == [3])
        let oid = try #require(id.objectIDValue).hexString
        let circle = try #require(try shapes.fetchObject(withOID: oid))
        #expect(try shapes.removeObject(circle))
        #expect(try shapes.count() == 1)
    }

    @Test("A query may have its operators in it")
    func updating() throws {
        let (_, people) = try fourPeople()
        #expect(try people.update(withQuery: ["age": 35, "$inc": ["age": 1], "$set": ["old": true]]) == 2)
        #expect(try people.count(["age": 36, "old": true]) == 2)
        #expect(try people.update(withQuery: ["_id": 9, "$upsert": ["name": "new"]]) == 0)
        #expect(try people.get(9)?["name"] == "new")
        let error = #expect(throws: TansuError.self) { try people.update(withQuery: ["age": 1]) }
        #expect(error?.code == .invalidQuery)
    }

    @Test("A transaction block commits or rolls back by its outcome, and its error rolls back")
    func transactions() throws {
        let (db, people) = try fourPeople()
        let committed = try db.transaction(inCollection: people) { people in
            try people.remove(id: 1)
            return .commit
        }
        #expect(committed)
        #expect(try people.count() == 3)
        let aborted = try db.transaction { tx in
            try tx.collection("people").remove([:])
            return .abort
        }
        #expect(!aborted)
        #expect(try people.count() == 3)
        #expect(throws: Refused.self) {
            try db.transaction(inCollection: people) { people in
                try people.remove([:])
                throw Refused()
            }
        }
        #expect(try people.count() == 3)
    }

    /// Two collections, one with an odd name, of every type of value, with indexes and a schema.
    private func filled() throws -> Database {
        let db = try Database(.memory)
        let odd = try db.collection("päth/../x")
        try odd.save([
            [
                "_id": 3, "d": 1.5, "i": .int64(7), "n": nil, "b": .binary(BSONBinary(Data([1, 2]))),
                "t": "line\nbreak",
            ],
            ["_id": .objectID(ObjectID()), "x": .decimal128(Decimal128(5)), "m": .maxKey, "a": [1, [2], ["k": "v"]]],
            ["_id": 1, "date": .date(1_700_000_000_123)],
        ])
        try odd.ensureIndex(
            "u", on: ["t": .ascending, "d": .descending], unique: true, sparse: true, caseInsensitive: true)
        try odd.ensureIndex("p", on: ["i": .ascending], partialFilter: ["i": ["$gt": 3]], maxEntries: 20_000)
        try db.collection("people").save(["_id": 1, "age": 5])
        try db.setSchema(["properties": ["age": ["minimum": 0]]], for: "people")
        try db.ensureCollection("empty")
        for name in ["Same", "same"] { try db.collection(name).save(["_id": .string(name)]) }
        return db
    }

    @Test("What is exported is imported as it was: documents in their order, indexes and schemas")
    func roundTrip() throws {
        let folder = try TemporaryFolder()
        let db = try filled()
        #expect(try db.exportCollections(toDirectory: folder.path("out")) == 6)
        #expect(try db.exportCollections(toDirectory: folder.path("out")) == 6)
        let copy = try Database(.memory)
        #expect(try copy.importCollections(fromDirectory: folder.path("out")) == 6)
        let names = try copy.collectionNames().filter { !$0.hasPrefix("tansu.") }
        #expect(names == ["Same", "empty", "people", "päth/../x", "same"])
        for name in names {
            #expect(try copy.collection(name).find().all() == db.collection(name).find().all())
            let (mine, theirs) = (try db.collection(name).indexes(), try copy.collection(name).indexes())
            #expect(theirs == mine)
        }
        #expect(throws: TansuError.self) { try copy.collection("people").save(["age": -1]) }
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path("out"))
        #expect(files.filter { $0.hasSuffix(".unfinished") } == [])
        #expect(Set(files.map { $0.lowercased() }).count == 10)
    }

    @Test("Validators are exported with their levels")
    func validators() throws {
        let folder = try TemporaryFolder()
        let (db, copy) = (try Database(.memory), try Database(.memory))
        try db.collection("people").save(["_id": 1, "age": -1])
        try db.setValidator(["age": ["$gte": 0]], for: "people", level: .moderate)
        try db.setSchema(["required": ["a"]], for: "things", level: .off)
        try db.exportCollections(toDirectory: folder.path("out"))
        for mode in [Database.ImportMode.update, .replace] {
            try copy.importCollections(fromDirectory: folder.path("out"), mode: mode)
            for (mine, theirs) in try zip(db.collections(), copy.collections()) {
                #expect(theirs.validator == mine.validator)
                #expect(theirs.validationLevel == mine.validationLevel)
            }
        }
    }

    @Test("Importing adds to existing collections, or replaces them")
    func modes() throws {
        let folder = try TemporaryFolder()
        let (db, people) = try fourPeople()
        try db.exportCollections(["people"], toDirectory: folder.path("out"))
        try people.remove(id: 1)
        try people.update(["_id": 2], ["$set": ["age": 99]])
        try people.save(["_id": 50])
        #expect(try db.importCollections(["people"], fromDirectory: folder.path("out")) == 4)
        #expect(try people.count() == 5)
        #expect(try people.get(2)?["age"] == 35)
        try db.importCollections(["people"], fromDirectory: folder.path("out"), mode: .replace)
        #expect(try people.names() == ["mike", "rosa", "omar", "lena"])
    }

    @Test("What is missing or cannot be read is an error that names it, and that collection is rolled back")
    func badFiles() throws {
        let folder = try TemporaryFolder()
        let (db, people) = try fourPeople()
        let out = folder.path("out")
        let missing = #expect(throws: TansuError.self) { try db.exportCollections(["nope"], toDirectory: out) }
        #expect(missing?.code == .notFound && missing?.context == "nope")
        #expect(throws: TansuError.self) { try db.importCollections(fromDirectory: folder.path("none")) }
        try db.exportCollections(toDirectory: out)
        let noFile = #expect(throws: TansuError.self) { try db.importCollections(["other"], fromDirectory: out) }
        #expect(noFile?.code == .notFound)

        let file = URL(fileURLWithPath: out + "/people.json")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        for bad in ["{\"_id\": 7", "[1]", "{\"_id\": {\"$oid\": \"x\"}}", "\u{FF}"] {
            try (lines[0] + "\n\n" + bad + "\n" + lines[1]).write(to: file, atomically: true, encoding: .utf8)
            let error = #expect(throws: TansuError.self) {
                try db.importCollections(fromDirectory: out, mode: .replace)
            }
            #expect(error?.code == .invalidJSON)
            #expect(error?.context == "people.json:3")
            #expect(try people.count() == 4)
        }
        try Data("{}".utf8).write(to: URL(fileURLWithPath: out + "/people-meta.json"))
        try Data("{\"_id\": [1]}".utf8).write(to: file)
        let id = #expect(throws: TansuError.self) { try db.importCollections(fromDirectory: out) }
        #expect(id?.code == .invalidID)
        let blocked = folder.path("file")
        try Data().write(to: URL(fileURLWithPath: blocked))
        #expect(throws: TansuError.self) { try db.exportCollections(toDirectory: blocked) }
    }

    @Test("Import and export have async variants")
    func asyncVariants() async throws {
        let folder = try TemporaryFolder()
        let db = try filled()
        #expect(try await db.exportCollections(toDirectory: folder.path("out")) == 6)
        let copy = try Database(.memory)
        #expect(try await copy.importCollections(fromDirectory: folder.path("out")) == 6)
        #expect(try await copy.collection("people").count() == 1)
    }
}
