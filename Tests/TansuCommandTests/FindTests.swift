import TansuBSON
import Testing

@Suite("tansu find, count, get and explain")
struct FindTests {
    @Test("documents are printed per line, in the order of their insertion")
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

    @Test("options and hints have the same meaning")
    func options() throws {
        let command = try Command.withPeople()
        let result = try command.tansu(
            "find", "people.tansu", "people", "--orderby", "-age", "--fields", "name", "--skip", "1", "--max", "1")
        #expect(try result.documents() == [["_id": 7, "name": "Cem"]])
    }

    @Test(
        "orders have the forms of SQL and of MongoDB, and --sort and --limit are other names",
        arguments: ["-age", "age desc", "age DESC", "age:-1", "age: desc", "{\"age\": -1}"])
    func orders(order: String) throws {
        let command = try Command.withPeople()
        for option in ["--orderby", "--sort"] {
            let result = try command.tansu("find", "people.tansu", "people", option, order, "--limit", "2")
            #expect(try result.documents().map { $0["age"] } == [41, 33])
        }
        let groups = try command.tansu(
            "aggregate", "people.tansu", "people", "{\"by\": \"age\"}", "--sort", order, "--limit", "1")
        #expect(try groups.documents().count == 1)
        let update = ["update", "people.tansu", "people", "{}", "{\"$set\": {\"first\": true}}"]
        #expect(try command.tansu(update + ["--sort", order, "--limit", "1"], input: []).status == 0)
        #expect(try command.tansu("find", "people.tansu", "people", "{\"first\": true}").documents()[0]["age"] == 41)
    }

    @Test("a hint that is also given as an option is a usage error")
    func twice() throws {
        let command = try Command.withPeople()
        let result = try command.tansu(
            "find", "people.tansu", "people", "{}", "{\"$max\": 1}", "--max", "2")
        #expect(result.status == 64)
        #expect(result.error.contains("$max"))
    }

    @Test("canonical JSON preserves the types")
    func canonical() throws {
        let command = try Command.withPeople()
        let result = try command.tansu(
            "find", "people.tansu", "people", "{\"_id\": 7}", "--fields", "age", "--canonical")
        #expect(result.output == "{\"_id\":{\"$numberInt\":\"7\"},\"age\":{\"$numberInt\":\"33\"}}\n")
    }

    @Test("a table has a column for each field")
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

    @Test("--json prints one object, even without results")
    func json() throws {
        let command = try Command.withPeople()
        let some = try command.tansu("find", "people.tansu", "people", "--json").json()
        #expect(some["ok"] == .bool(true))
        #expect(some["documents"]?.arrayValue?.count == 3)
        let none = try command.tansu("find", "people.tansu", "people", "{\"age\": 1}", "--json")
        #expect(none.status == 1)
        #expect(try none.json() == ["ok": true, "documents": []])
    }

    @Test("no result is exit code 1 without output")
    func nothing() throws {
        let command = try Command.withPeople()
        let result = try command.tansu("find", "people.tansu", "people", "{\"age\": 1}")
        #expect(result.status == 1)
        #expect(result.output.isEmpty && result.error.isEmpty)
    }

    @Test("a count is a number, and 0 is a valid result")
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

    @Test("get finds a document by an id of any type; no document is exit code 1")
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

    @Test("--no-disk-use sets the hint $allowDiskUse and cannot be combined with it")
    func noDiskUse() throws {
        let command = try Command.withPeople()
        let words = ["find", "people.tansu", "people", "{}"]
        let sorted = try command.tansu(words + ["--orderby", "-age"], input: [])
        let held = try command.tansu(words + ["--orderby", "-age", "--no-disk-use"], input: [])
        #expect(held.status == 0 && held.output == sorted.output)
        let twice = try command.tansu(words + ["{\"$allowDiskUse\": true}", "--no-disk-use"], input: [])
        #expect(twice.status == 64 && twice.error.contains("--no-disk-use"))
    }

    @Test("a plan names the index that serves the query")
    func explain() throws {
        let command = try Command.withPeople()
        let words = ["explain", "people.tansu", "people", "{\"name\": \"Ann\"}"]
        let before = try command.tansu(words, input: [])
        #expect(before.status == 0)
        #expect(!before.output.contains("by_name"))
        try command.succeed("index", "create", "people.tansu", "people", "name", "--name", "by_name")
        let after = try command.tansu(words + ["{\"$index\": \"by_name\"}"], input: [])
        #expect(after.lines.first == "Plan      index scan of by_name, forward")
        #expect(after.lines.contains("Bounds    name = \"Ann\""))
        let json = try command.tansu(words + ["{\"$index\": \"by_name\"}", "--json"], input: []).json()
        #expect(json["ok"] == .bool(true))
        #expect(json[path: "plan.plan.index"] == "by_name")
        #expect(json[path: "plan.returned"] == 1)
    }
}
