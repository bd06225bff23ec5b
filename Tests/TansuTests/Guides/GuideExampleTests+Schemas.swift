import Foundation
import Tansu
import TansuTestSupport
import Testing

// Schemas.md and MigratingDocuments.md.
extension GuideExampleTests {
    @Test func schemas() throws {
        let db = try Database(.memory)
        let people = try db.collection("people")

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

        try db.setValidator(
            ["from": ["$type": "date"], "$expr": ["$lte": ["$from", "$to"]]],
            for: "trips", level: .warn)
        try db.collection("trips").save(["from": .date(2), "to": .date(1)])
        #expect(try db.collections().first { $0.name == "trips" }?.validationLevel == .warn)
    }

    @Test func migratingDocuments() throws {
        var printed = Printed()
        func print(_ items: Any...) { printed.add(items) }

        let db = try Database(.memory)
        try db.collection("people").save(["_id": 1, "name": "mike", "age": "12", "birthday": "May"])

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
        try db.migrate(migrations)
        print(try db.collection("people").find().all())  // [{"_id":1,"name":"mike","age":12}]

        migrations.add("everybody has tags") { step in
            try step.collection("people").update(["tags": ["$exists": false]], ["$set": ["tags": []]])
        }
        try db.migrate(migrations)
        print(try db.appliedMigrations().map(\.name).count)  // 3

        #expect(try printed.lines == shown(by: "MigratingDocuments"))
    }
}
