import Tansu
import Testing

@Suite("tansu save and remove")
struct ChangeTests {
    @Test("a saved document is printed by its id, and replaces the one with that id")
    func save() throws {
        let command = try Command()
        let first = try command.tansu("save", "db", "c", "{\"_id\": 1, \"a\": 1}", "{\"_id\": \"x\"}")
        #expect(first.status == 0)
        #expect(first.output == "1\n\"x\"\n")
        #expect(try command.tansu("save", "db", "c", "{\"_id\": 1, \"a\": 2}").status == 0)
        #expect(try command.tansu("get", "db", "c", "1").json() == ["_id": 1, "a": 2])
    }

    @Test("a document without id gets an ObjectID")
    func newID() throws {
        let command = try Command()
        let answer = try command.tansu("save", "db", "c", "{\"a\": 1}", "--json").json()
        let id = try #require(answer["ids"]?.arrayValue?.first?.objectIDValue)
        #expect(try command.tansu("get", "db", "c", id.hexString).json()["a"] == .int32(1))
    }

    @Test("documents come from standard input when none is given")
    func standardInput() throws {
        let command = try Command()
        #expect(try command.tansu("save", "db", "c", input: "{\"_id\": 1}\n{\"_id\": 2}\n").output == "1\n2\n")
        #expect(try command.tansu("save", "db", "c", input: "[{\"_id\": 3}]").output == "3\n")
        #expect(try command.tansu("save", "db", "c", input: "").status == 66)
    }

    @Test("one bad document, and nothing is saved")
    func allOrNothing() throws {
        let command = try Command()
        try command.tansu("save", "db", "c", "{\"_id\": 0}")
        let bad = try command.tansu("save", "db", "c", "{\"_id\": 1}", "{\"_id\": 2, \"$x\": 1}")
        #expect(bad.status == 65)
        #expect(bad.error.contains("INVALID_DOCUMENT"))
        let badLine = try command.tansu("save", "db", "c", input: "{\"_id\": 3}\n{\"_id\": 4\n")
        #expect(badLine.status == 65)
        #expect(badLine.error.contains("line 2"))
        #expect(try command.tansu("count", "db", "c").output == "1\n")
    }

    @Test("what violates the collection's schema is not saved, and an import counts it as bad")
    func schema() throws {
        let command = try Command()
        do {
            let database = try Database(path: command.path("db"))
            try database.setSchema(["properties": ["age": ["minimum": 0]]], for: "c")
            try database.close()
        }
        let bad = try command.tansu("save", "db", "c", "{\"_id\": 1, \"age\": 1}", "{\"_id\": 2, \"age\": -1}")
        #expect(bad.status == 65)
        #expect(bad.error.contains("age: minimum"))
        #expect(try command.tansu("count", "db", "c").output == "0\n")
        try command.write("c.ndjson", "{\"_id\": 1, \"age\": 1}\n{\"_id\": 2, \"age\": -1}\n{\"_id\": 3, \"age\": 3}\n")
        let imported = try command.tansu("import", "db", "c.ndjson", "--collection", "c")
        #expect(imported.error.contains("c.ndjson:2: ") && imported.error.contains("age: minimum"))
        #expect(try command.tansu("count", "db", "c").output == "2\n")
        let update = try command.tansu("update", "db", "c", "{}", "{\"$inc\": {\"age\": -2}}")
        #expect(update.status == 65)
    }

    @Test("--insert refuses an id that is taken")
    func insert() throws {
        let command = try Command.withPeople()
        let result = try command.tansu("save", "people.tansu", "people", "{\"_id\": \"ann\"}", "--insert")
        #expect(result.status == 65)
        #expect(result.error.contains("[EXISTS"))
        #expect(try command.tansu("get", "people.tansu", "people", "ann").json()["age"] == .int32(41))
    }

    @Test("a document goes by its id, others by a query; nothing to remove is exit code 1")
    func remove() throws {
        let command = try Command.withPeople()
        let one = try command.tansu("remove", "people.tansu", "people", "--id", "7")
        #expect(one.status == 0 && one.output == "1 document removed\n")
        #expect(try command.tansu("remove", "people.tansu", "people", "--id", "7").status == 1)
        let some = try command.tansu("remove", "people.tansu", "people", "{\"age\": {\"$gt\": 0}}", "--json")
        #expect(try some.json() == ["ok": true, "removed": 2])
        #expect(try command.tansu("remove", "people.tansu", "people", "{}").status == 1)
    }

    @Test("to remove, something must be said")
    func removeNothingSaid() throws {
        let command = try Command.withPeople()
        #expect(try command.tansu("remove", "people.tansu", "people").status == 64)
        #expect(try command.tansu("remove", "people.tansu", "people", "{}", "--id", "7").status == 64)
        #expect(try command.tansu("count", "people.tansu", "people").output == "3\n")
    }
}
