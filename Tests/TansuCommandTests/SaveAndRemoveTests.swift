import Tansu
import Testing

@Suite("tansu save and remove")
struct SaveAndRemoveTests {
    @Test("a document is saved, its id is printed, and it replaces the document with the same id")
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

    @Test("documents are read from standard input when there are no arguments")
    func standardInput() throws {
        let command = try Command()
        #expect(try command.tansu("save", "db", "c", input: "{\"_id\": 1}\n{\"_id\": 2}\n").output == "1\n2\n")
        #expect(try command.tansu("save", "db", "c", input: "[{\"_id\": 3}]").output == "3\n")
        #expect(try command.tansu("save", "db", "c", input: "").status == 66)
    }

    @Test("an invalid document aborts the transaction")
    func allOrNothing() throws {
        let command = try Command()
        try command.succeed("save", "db", "c", "{\"_id\": 0}")
        let bad = try command.tansu("save", "db", "c", "{\"_id\": 1}", "{\"_id\": 2, \"$x\": 1}")
        #expect(bad.status == 65)
        #expect(bad.error.contains("INVALID_DOCUMENT"))
        let badLine = try command.tansu("save", "db", "c", input: "{\"_id\": 3}\n{\"_id\": 4\n")
        #expect(badLine.status == 65)
        #expect(badLine.error.contains("line 2"))
        #expect(try command.tansu("count", "db", "c").output == "1\n")
    }

    @Test("a document that violates the schema is not saved, and an import rejects it")
    func schema() throws {
        let command = try Command()
        do {
            let database = try Database(path: command.path("db"))
            try database.setSchema(["properties": ["age": ["minimum": 0]]], for: "c")
            try database.close()
        }
        let bad = try command.tansu("save", "db", "c", "{\"_id\": 1, \"age\": 1}", "{\"_id\": 2, \"age\": -1}")
        #expect(bad.status == 65)
        #expect(bad.error.contains("age") && bad.error.contains("minimum"))
        #expect(try command.tansu("count", "db", "c").output == "0\n")
        try command.write("c.ndjson", "{\"_id\": 1, \"age\": 1}\n{\"_id\": 2, \"age\": -1}\n{\"_id\": 3, \"age\": 3}\n")
        let imported = try command.tansu("import", "db", "c.ndjson", "--collection", "c")
        #expect(imported.error.hasPrefix("c.ndjson:2: ") && imported.error.contains("minimum"))
        #expect(try command.tansu("count", "db", "c").output == "2\n")
        let update = try command.tansu("update", "db", "c", "{}", "{\"$inc\": {\"age\": -2}}")
        #expect(update.status == 65)
    }

    @Test("--insert fails for an existing id")
    func insert() throws {
        let command = try Command.withPeople()
        let result = try command.tansu("save", "people.tansu", "people", "{\"_id\": \"ann\"}", "--insert")
        #expect(result.status == 65)
        #expect(result.error.contains("[EXISTS"))
        #expect(try command.tansu("get", "people.tansu", "people", "ann").json()["age"] == .int32(41))
    }

    @Test("documents are removed by id and by query; no removed document is exit code 1")
    func remove() throws {
        let command = try Command.withPeople()
        let one = try command.tansu("remove", "people.tansu", "people", "--id", "7")
        #expect(one.status == 0 && one.output == "1 document removed\n")
        #expect(try command.tansu("remove", "people.tansu", "people", "--id", "7").status == 1)
        let some = try command.tansu("remove", "people.tansu", "people", "{\"age\": {\"$gt\": 0}}", "--json")
        #expect(try some.json() == ["ok": true, "removed": 2])
        #expect(try command.tansu("remove", "people.tansu", "people", "{}").status == 1)
    }

    @Test("hints restrict the documents that are removed")
    func removeWithHints() throws {
        let command = try Command.withPeople()
        let hints = "{\"$orderby\": {\"age\": 1}, \"$max\": 1}"
        let removed = try command.tansu("remove", "people.tansu", "people", "{}", hints)
        #expect(removed.output == "1 document removed\n")
        #expect(try command.tansu("get", "people.tansu", "people", "bob").status == 1)
        #expect(try command.tansu("count", "people.tansu", "people").output == "2\n")
    }

    @Test("remove needs either an id or a query")
    func removeWithoutArguments() throws {
        let command = try Command.withPeople()
        #expect(try command.tansu("remove", "people.tansu", "people").status == 64)
        #expect(try command.tansu("remove", "people.tansu", "people", "{}", "--id", "7").status == 64)
        #expect(try command.tansu("count", "people.tansu", "people").output == "3\n")
    }
}
