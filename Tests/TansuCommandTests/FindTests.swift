import TansuBSON
import Testing

@Suite("tansu find, count, get and explain")
struct FindTests {
    @Test("documents come a line each, in the order of their insertion")
    func lines() throws {
        let command = try Command.withPeople()
        let result = try command.tansu("find", "people.tansu", "people")
        #expect(result.status == 0)
        #expect(try result.documents().map { $0["_id"] } == [.string("ann"), .string("bob"), .int32(7)])
    }

    @Test("query and hints select, sort and project")
    func hints() throws {
        let command = try Command.withPeople()
        let result = try command.tansu(
            "find", "people.tansu", "people", "{\"age\": {\"$gt\": 30}}",
            "{\"$orderby\": {\"age\": 1}, \"$fields\": {\"name\": 1, \"_id\": 0}}")
        #expect(try result.documents() == [["name": "Cem"], ["name": "Ann"]])
    }

    @Test("the options mean the same as the hints")
    func options() throws {
        let command = try Command.withPeople()
        let result = try command.tansu(
            "find", "people.tansu", "people", "--orderby", "-age", "--fields", "name", "--skip", "1", "--max", "1")
        #expect(try result.documents() == [["_id": 7, "name": "Cem"]])
    }

    @Test("a hint given twice is a mistake of the command line")
    func twice() throws {
        let command = try Command.withPeople()
        let result = try command.tansu(
            "find", "people.tansu", "people", "{}", "{\"$max\": 1}", "--max", "2")
        #expect(result.status == 64)
        #expect(result.error.contains("$max"))
    }

    @Test("canonical JSON keeps the types")
    func canonical() throws {
        let command = try Command.withPeople()
        let result = try command.tansu(
            "find", "people.tansu", "people", "{\"_id\": 7}", "--fields", "age", "--canonical")
        #expect(result.output == "{\"_id\":{\"$numberInt\":\"7\"},\"age\":{\"$numberInt\":\"33\"}}\n")
    }

    @Test("a table has a column a field")
    func table() throws {
        let command = try Command.withPeople()
        let result = try command.tansu(
            "find", "people.tansu", "people", "--fields", "name,age", "--orderby", "name", "--table")
        #expect(
            result.output == """
                _id  name  age
                ───  ────  ───
                ann  Ann    41
                bob  Bob    25
                  7  Cem    33

                """)
    }

    @Test("as one object for programs, also when there is nothing")
    func json() throws {
        let command = try Command.withPeople()
        let some = try command.tansu("find", "people.tansu", "people", "--json").json()
        #expect(some["ok"] == .bool(true))
        #expect(some["documents"]?.arrayValue?.count == 3)
        let none = try command.tansu("find", "people.tansu", "people", "{\"age\": 1}", "--json")
        #expect(none.status == 1)
        #expect(try none.json() == ["ok": true, "documents": []])
    }

    @Test("nothing found is exit code 1, without a word")
    func nothing() throws {
        let command = try Command.withPeople()
        let result = try command.tansu("find", "people.tansu", "people", "{\"age\": 1}")
        #expect(result.status == 1)
        #expect(result.output.isEmpty && result.error.isEmpty)
    }

    @Test("a count is a number, and 0 is an answer")
    func count() throws {
        let command = try Command.withPeople()
        let cats = try command.tansu("count", "people.tansu", "people", "{\"pets.species\": \"cat\"}")
        #expect(cats.status == 0 && cats.output == "1\n")
        let none = try command.tansu("count", "people.tansu", "people", "{\"age\": 1}", "--json")
        #expect(none.status == 0)
        #expect(try none.json() == ["ok": true, "count": 0])
        let limited = try command.tansu("count", "people.tansu", "people", "{}", "{\"$skip\": 1}")
        #expect(limited.output == "2\n")
    }

    @Test("a document by its id, whatever its type; none is exit code 1")
    func get() throws {
        let command = try Command.withPeople()
        #expect(try command.tansu("get", "people.tansu", "people", "7").json()["name"] == .string("Cem"))
        #expect(try command.tansu("get", "people.tansu", "people", "ann").json()["name"] == .string("Ann"))
        let none = try command.tansu("get", "people.tansu", "people", "\"7\"")
        #expect(none.status == 1 && none.output.isEmpty)
        #expect(none.error.contains("\"7\""))
        let json = try command.tansu("get", "people.tansu", "people", "eve", "--json")
        #expect(json.status == 1)
        #expect(try json.json() == ["ok": true, "document": .null])
        let found = try command.tansu("get", "people.tansu", "people", "ann", "--json").json()
        #expect(found["document"]?.documentValue?["age"] == .int32(41))
    }

    @Test("--no-disk-use is the hint $allowDiskUse, and can't stand beside it")
    func noDiskUse() throws {
        let command = try Command.withPeople()
        let words = ["find", "people.tansu", "people", "{}"]
        let sorted = try command.tansu(words + ["--orderby", "-age"], input: [])
        let held = try command.tansu(words + ["--orderby", "-age", "--no-disk-use"], input: [])
        #expect(held.status == 0 && held.output == sorted.output)
        let twice = try command.tansu(words + ["{\"$allowDiskUse\": true}", "--no-disk-use"], input: [])
        #expect(twice.status != 0 && twice.error.contains("--no-disk-use"))
    }

    @Test("a plan tells the index that serves the query")
    func explain() throws {
        let command = try Command.withPeople()
        let words = ["explain", "people.tansu", "people", "{\"name\": \"Ann\"}"]
        let before = try command.tansu(words, input: [])
        #expect(before.status == 0)
        #expect(!before.output.contains("by_name"))
        try command.tansu("index", "create", "people.tansu", "people", "name", "--name", "by_name")
        let after = try command.tansu(words, input: [])
        #expect(after.output.contains("by_name"))
        let json = try command.tansu(words + ["--json"], input: []).json()
        #expect(json["ok"] == .bool(true))
        #expect(json["plan"]?.documentValue?.isEmpty == false)
    }
}
