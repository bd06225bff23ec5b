import CoreMetrics
import Foundation
import Logging
import Tansu
import Testing

private struct Refused: Error {}

// The first block of docs/objects.md.
struct Circle: BSONArchiving {
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

@Suite("The examples of the guides")
struct GuideTests {
    @Test(
        "Every Swift example of a guide stands in this file, which compiles and runs it",
        arguments: ["writing", "objects", "schemas-and-migrations", "logging", "ejdbkit"])
    func examplesAreHere(page: String) throws {
        let file = URL(fileURLWithPath: #filePath)
        let root = file.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(contentsOf: root.appendingPathComponent("docs/\(page).md"), encoding: .utf8)
        let here = words(try String(contentsOf: file, encoding: .utf8))
        let examples = text.components(separatedBy: "```swift\n").dropFirst()
            .compactMap { $0.components(separatedBy: "```").first }
        #expect(!examples.isEmpty)
        for example in examples { #expect(here.contains(words(example)), "\(example)") }
    }

    private func words(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    @Test("Writing")
    func writing() throws {
        let db = try Database(.memory)
        let people = try db.collection("people", of: Person.self)
        let visits = try db.collection("visits")
        let (mike, rosa) = (Person.mike, Person.rosa)

        try people.save([mike, rosa])
        try people.update(id: mike.id) { $0.age += 1 }
        try people.update(["age": ["$gte": 18]]) { person in
            person.name = person.name.uppercased()
        }
        try visits.upsert(["page": "/"], ["$inc": ["count": 1]])
        #expect(try people.find().all().map(\.name) == ["mike", "ROSA"])
        #expect(try people.get(mike.id)?.age == 13)

        let outcomes = try people.bulk([
            .insert(mike), .update(["name": "ROSA"], ["$inc": ["age": 1]]), .removeID(ObjectID()),
        ])
        let errors = outcomes.compactMap(\.error)
        #expect(errors.count == 1)

        try db.write { tx in
            let people = try tx.collection("people", of: Person.self)
            try people.remove(id: mike.id)
            do {
                try tx.savepoint {
                    try people.save(rosa)
                    throw Refused()
                }
            } catch is Refused {}
            try tx.collection("log").save(["removed": .objectID(mike.id)])
        }
        #expect(try people.find().all().map(\.name) == ["ROSA"])
        #expect(try db.collection("log").count() == 1)
    }

    @Test("Objects")
    func objects() throws {
        let db = try Database(.memory)
        var printed: [Double] = []
        func print(_ radius: Double) { printed.append(radius) }

        try db.types.register(Circle.self)
        let shapes = try db.objects("shapes")
        let id = try shapes.save(Circle(radius: 2))
        for shape in try shapes.find(["radius": ["$gt": 1]]).all() {
            if let circle = shape as? Circle { print(circle.radius) }
        }
        #expect(printed == [2])
        #expect((try shapes.get(id) as? Circle)?.id == id.objectIDValue)
    }

    @Test("Schemas and migrations")
    func schemasAndMigrations() throws {
        let db = try Database(.memory)
        let people = try db.collection("people")
        @Sendable func print(_ step: String, _ done: Int) {}
        try people.save(["_id": 1, "name": "mike", "age": "12", "birthday": "x"])

        var migrations = Database.Migrations()
        migrations.add("people by name") { step in
            try step.collection("people").ensureIndex("by_name", on: ["name": .ascending])
        }
        migrations.add("ages are numbers") { step in
            try step.rewrite("people") { person in
                if let age = person["age"]?.stringValue.flatMap({ Int($0) }) { person["age"] = BSONValue(age) }
            }
            try step.collection("people").update([:], ["$unset": ["birthday": 1]])
        }
        try db.migrate(migrations) { progress in
            print(progress.step, progress.documents?.done ?? 0)
        }
        #expect(try people.find().all() == [["_id": 1, "name": "mike", "age": 12]])

        try db.setSchema(
            [
                "required": ["name"],
                "properties": [
                    "name": ["type": "string", "minLength": 1],
                    "age": ["bsonType": ["int", "double"], "minimum": 0, "exclusiveMaximum": 150],
                    "mail": ["pattern": "^[^@]+@[^@]+$"],
                    "pets": ["items": ["required": ["species"]], "maxItems": 10],
                ],
            ],
            for: "people")
        try people.save(["name": "rosa", "mail": "r@x", "pets": [["species": "cat"]]])
        let error = #expect(throws: TansuError.self) { try people.save(["name": "x", "pets": [[:]]]) }
        #expect(error?.context == "pets.0.species: required")
    }

    @Test("Logging")
    func logging() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("people")

        let options = Database.Options(
            logger: Logger(label: "people"), slowCallTime: .milliseconds(50), metrics: MetricsSystem.factory)
        let db = try Database(path: path, options: options)
        try db.collection("people").save(["_id": 1])
        #expect(try db.collection("people").count() == 1)
    }

    @Test("EJDBKit")
    func ejdbKit() throws {
        let db = try Database(.memory)

        let collection = try db.ensureCollection(withName: "foo")
        try collection.saveObjects([["first name": "foo", "last name": "bar"], ["first name": "fred"]])
        let query: BSONDocument = ["first name": ["$begin": "f"]]
        let hints: BSONDocument = ["$fields": ["first name": 1], "$orderby": ["first name": 1]]
        let results = try db.findObjects(withQuery: query, hints: hints, inCollection: collection)
        let kept = try db.transaction(inCollection: collection) { collection in
            try collection.update(withQuery: ["first name": "fred", "$set": ["last name": "x"]])
            return .abort
        }
        try db.removeCollection(withName: "foo")
        #expect(results.map { $0["first name"] } == ["foo", "fred"])
        #expect(!kept)
        #expect(try db.collections().isEmpty)
    }
}
