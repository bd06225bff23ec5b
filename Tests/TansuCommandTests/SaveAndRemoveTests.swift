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
        let bad = try command.tansu("save", "db", "c", "{\"_id\": 1}", "{\"_id\": [2]}")
        #expect(bad.status == 65)
        #expect(bad.error.contains("INVALID_ID"))
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

    @Test("the error of several documents names the one at fault")
    func bulk() throws {
        let command = try Command.withPeople()
        try command.succeed("index", "create", "people.tansu", "people", "name", "--unique")
        let save = ["save", "people.tansu", "people"]
        let words = save + ["{\"_id\": 8, \"name\": \"Dan\"}", "{\"_id\": 7, \"name\": \"Eve\"}", "--insert"]
        let text = try command.tansu(words, input: [])
        #expect(text.status == 65)
        #expect(text.error.hasPrefix("tansu: A document with the _id 7 exists in collection \"people\"; "))
        #expect(text.error.contains("[EXISTS, document 2, "))
        let json = try BSONDocument(extendedJSON: command.tansu(words + ["--json"], input: []).error)
        #expect(json[path: "error.document"] == 1)
        let unique = try command.tansu(save, input: Array("{\"name\": \"Dan\"}\n\n{\"name\": \"Ann\"}\n".utf8))
        #expect(unique.error.contains("[NOT_UNIQUE, standard input, line 3, "))
        let documents = ["{\"name\": 1}", "{\"name\": 2}", "{\"_id\": [1]}"]
        let invalid = try command.tansu(save + documents + ["--json"], input: [])
        #expect(try BSONDocument(extendedJSON: invalid.error)[path: "error.document"] == 2)
        #expect(try command.tansu("count", "people.tansu", "people").output == "3\n")
    }

    @Test("standard input can be pretty-printed JSON or a table")
    func otherFormats() throws {
        let command = try Command()
        let pretty = "{\n  \"_id\": 1\n}\n{\n  \"_id\": 2\n}\n"
        #expect(try command.tansu("save", "db", "c", input: pretty).output == "1\n2\n")
        let table = try command.tansu(
            "save", "db", "c", "--format", "csv", "--infer-types", input: "_id,a\n3,x\n4,\"5\"\n")
        #expect(table.output == "3\n4\n")
        #expect(try command.tansu("get", "db", "c", "4").json() == ["_id": 4, "a": "5"])
    }

    @Test("an id may be negative")
    func negativeID() throws {
        let command = try Command()
        try command.succeed("save", "db", "c", "{\"_id\": -5}", "{\"_id\": -1.5}")
        #expect(try command.tansu("get", "db", "c", "-5").json() == ["_id": -5])
        #expect(try command.tansu("get", "db", "c", "-1.5", "--canonical").status == 0)
        #expect(try command.tansu("get", "db", "c", "--json", "-5").status == 0)
        #expect(try command.tansu("get", "db", "c", "--", "-5").status == 0)
        #expect(try command.tansu("remove", "db", "c", "--id", "-5").status == 0)
        #expect(try command.tansu("count", "db", "c").output == "1\n")
    }

    @Test("--sort, --skip and --limit restrict what is removed")
    func removeWithOptions() throws {
        let command = try Command.withPeople()
        let words = ["remove", "people.tansu", "people", "{}", "--sort", "-age", "--skip", "1", "--limit", "1"]
        #expect(try command.tansu(words, input: []).output == "1 document removed\n")
        #expect(try command.tansu("get", "people.tansu", "people", "7").status == 1)
        #expect(try command.tansu("remove", "people.tansu", "people", "--id", "ann", "--limit", "1").status == 64)
        #expect(try command.tansu("count", "people.tansu", "people").output == "2\n")
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
