import TansuBSON
import Testing

@Suite("tansu index, collections and stats")
struct IndexAndCollectionTests {
    @Test("an index is created, listed and dropped by its name")
    func index() throws {
        let command = try Command.withPeople()
        let none = try command.tansu("index", "list", "people.tansu", "people")
        #expect(none.status == 1 && none.output.isEmpty)
        let made = try command.tansu("index", "create", "people.tansu", "people", "name,-age")
        #expect(made.status == 0)
        #expect(made.output.hasPrefix("Index name_1_age_-1 is ready"))
        let named = try command.tansu(
            "index", "create", "people.tansu", "people", "{\"pets.species\": 1}", "--name", "pets", "--json")
        #expect(try named.json() == ["ok": true, "name": "pets"])
        let list = try command.tansu("index", "list", "people.tansu", "people", "--json").json()
        let indexes = list["indexes"]?.arrayValue?.compactMap(\.documentValue) ?? []
        #expect(indexes.map { $0["name"] } == [.string("name_1_age_-1"), .string("pets")])
        #expect(indexes.first?["keys"] == ["name": 1, "age": -1])
        let table = try command.tansu("index", "list", "people.tansu", "people")
        #expect(table.lines.first?.hasPrefix("name") == true)
        #expect(table.lines.count == 4)
        #expect(try command.tansu("index", "drop", "people.tansu", "people", "pets").status == 0)
        #expect(try command.tansu("index", "drop", "people.tansu", "people", "pets").status == 66)
    }

    @Test("an index has its options, and the list shows them")
    func indexOptions() throws {
        let command = try Command.withPeople()
        let create = ["index", "create", "people.tansu", "people"]
        #expect(try command.tansu(create + ["mail", "--unique", "--sparse"], input: []).status == 0)
        let filter = "{\"age\": {\"$gte\": 40}}"
        let adults = try command.tansu(
            create + ["name", "--case-insensitive", "--partial-filter", filter, "--json"], input: [])
        #expect(try adults.json() == ["ok": true, "name": "name_1"])
        let list = try command.tansu("index", "list", "people.tansu", "people", "--json").json()
        let indexes = list["indexes"]?.arrayValue?.compactMap(\.documentValue) ?? []
        #expect(indexes.map { $0["sparse"] } == [true, nil])
        #expect(indexes.map { $0["unique"] } == [true, false])
        #expect(indexes.map { $0["caseInsensitive"] } == [nil, true])
        #expect(indexes.last?["partialFilter"] == ["age": ["$gte": 40]])
        #expect(indexes.map { $0["entries"]?.intValue } == [0, 1])
        let table = try command.tansu("index", "list", "people.tansu", "people")
        #expect(table.lines.first?.contains("sparse") == true)
        #expect(try command.tansu(create + ["tags", "--max-entries", "20000"], input: []).status == 0)
        let bounded = try command.tansu("index", "list", "people.tansu", "people")
        #expect(bounded.lines.first?.contains("maxEntries") == true && bounded.output.contains("20000"))
        let none = try command.tansu(create + ["age", "--max-entries", "0"], input: [])
        #expect(none.status == 64 && none.error.contains("--max-entries"))
        let bad = try command.tansu(create + ["age", "--partial-filter", "{\"a\": {\"$regex\": \"x\"}}"], input: [])
        #expect(bad.status == 65 && bad.error.contains("INVALID_INDEX"))
        #expect(try command.tansu(create + ["age", "--partial-filter", "{"], input: []).status == 65)
    }

    @Test("only a terminal shows the progress of an index build")
    func indexProgress() throws {
        let command = try Command()
        try command.write("n.ndjson", String(repeating: "{\"n\": 1}\n", count: 2000))
        try command.succeed("import", "n.tansu", "n.ndjson")
        let create = ["index", "create", "n.tansu", "n", "n", "--name"]
        let terminal = try PseudoTerminal()
        let progress = try command.tansu(create + ["progress"], errorsOn: terminal)
        #expect(progress.status == 0 && progress.output.hasPrefix("Index progress is ready"))
        #expect(progress.error.contains("progress") && progress.error.contains("documents"))
        // The progress bar is cleared at the end.
        #expect(progress.error.hasSuffix("\r\u{1B}[2K"))
        let silent = try command.tansu(create + ["silent"], input: [])
        #expect(silent.status == 0 && silent.error.isEmpty)
    }

    @Test("creating the same index again has no effect; other keys with the same name are an error")
    func indexAgain() throws {
        let command = try Command.withPeople()
        let create = ["index", "create", "people.tansu", "people", "name", "--name", "n"]
        #expect(try command.tansu(create, input: []).status == 0)
        #expect(try command.tansu(create, input: []).status == 0)
        let other = try command.tansu("index", "create", "people.tansu", "people", "age", "--name", "n")
        #expect(other.status == 65)
        #expect(other.error.contains("[EXISTS"))
    }

    @Test("an invalid direction is an error")
    func badIndex() throws {
        let command = try Command.withPeople()
        let result = try command.tansu("index", "create", "people.tansu", "people", "{\"a\": 2}")
        #expect(result.status == 65)
        #expect(
            result.error
                == "tansu: Path \"a\" has the direction 2; use 1 for ascending or -1 for descending "
                + "[INVALID_INDEX, a]\n"
        )
    }

    @Test("collections are listed, renamed and dropped")
    func collections() throws {
        let command = try Command.withPeople()
        #expect(
            try command.tansu("collections", "people.tansu").output == """
                name    documents
                ──────  ─────────
                people          3

                """)
        #expect(try command.tansu("collections", "rename", "people.tansu", "people", "crowd").status == 0)
        let list = try command.tansu("collections", "list", "people.tansu", "--json").json()
        #expect(list == ["ok": true, "collections": [["name": "crowd", "documents": 3]]])
        #expect(try command.tansu("collections", "drop", "people.tansu", "people").status == 66)
        let dropped = try command.tansu("collections", "drop", "people.tansu", "crowd", "--json")
        #expect(try dropped.json() == ["ok": true, "dropped": "crowd"])
        let none = try command.tansu("collections", "people.tansu")
        #expect(none.status == 1 && none.output.isEmpty)
        #expect(none.error == "tansu: The database has no collections\n")
        // The name of the command in earlier releases.
        try command.succeed("save", "people.tansu", "other", "{}")
        #expect(try command.tansu("collections", "remove", "people.tansu", "other").status == 0)
    }

    @Test("renaming to an existing name is an error")
    func renameTaken() throws {
        let command = try Command.withPeople()
        try command.succeed("save", "people.tansu", "other", "{}")
        let result = try command.tansu("collections", "rename", "people.tansu", "people", "other")
        #expect(result.status == 65)
        #expect(result.error.contains("[EXISTS"))
    }

    @Test("a descending key needs no --")
    func descendingKey() throws {
        let command = try Command.withPeople()
        try command.succeed("index", "create", "people.tansu", "people", "-age", "--unique")
        try command.succeed("index", "create", "people.tansu", "people", "--name", "n", "name desc,age")
        let indexes = try command.tansu("index", "list", "people.tansu", "people", "--json").json()["indexes"]?
            .arrayValue
        #expect(indexes?.compactMap { $0.documentValue?["keys"] } == [["age": -1], ["name": -1, "age": 1]])
    }

    @Test("statistics are of the files, not of the opening that reads them")
    func statsOfFiles() throws {
        let command = try Command.withPeople()
        try command.succeed("compact", "people.tansu")
        let text = try command.tansu("stats", "people.tansu").output
        for label in ["Read only", "Format", "Compactions", "Durability", "Index memory", "Snapshots"] {
            #expect(!text.contains(label))
        }
        let json = try #require(try command.tansu("stats", "people.tansu", "--json").json()["stats"]?.documentValue)
        #expect(json["readOnly"] == nil && json["compactions"] == nil)
        #expect(json["logBytes"] != nil && json["sequence"] != nil)
    }

    @Test("what takes the space is printed by collection, index and segment")
    func storage() throws {
        let command = try Command.withPeople()
        try command.succeed("index", "create", "people.tansu", "people", "name", "--name", "by_name")
        let text = try command.tansu("stats", "people.tansu", "--storage").lines
        let words = text.map { $0.split(separator: " ").map(String.init) }
        #expect(words.contains { $0.starts(with: ["people", "3"]) && $0.contains("_id") })
        #expect(words.contains { $0.first == "by_name" && $0.count >= 3 && $0[1] == "3" })
        let json = try command.tansu("stats", "people.tansu", "--storage", "--json").json()
        let report = try #require(json["storage"]?.documentValue)
        let indexes = report.documentList("collections").first?.documentList("indexes") ?? []
        #expect(indexes.map { $0["name"]?.stringValue } == ["_id", "by_name"])
        #expect(report.documentList("segments").allSatisfy { ($0["bytes"]?.int64Value ?? 0) > 0 })
        #expect(!report.documentList("segments").isEmpty)
    }

    @Test("statistics are printed as text and as JSON")
    func stats() throws {
        let command = try Command.withPeople()
        try command.succeed("index", "create", "people.tansu", "people", "name", "--name", "by_name")
        let text = try command.tansu("stats", "people.tansu")
        #expect(text.status == 0)
        let row = text.lines.last?.split(separator: " ").map(String.init)
        #expect(row == ["people", "3", "by_name", "3"])
        let log = text.lines.first { $0.hasPrefix("Log bytes  ") }
        #expect(log?.hasSuffix("B") == true)
        let json = try command.tansu("stats", "people.tansu", "--json").json()
        #expect(json["ok"] == .bool(true))
        let collections = json["stats"]?.documentValue?["collections"]?.arrayValue
        #expect(collections?.first?.documentValue?["documents"]?.intValue == 3)
    }
}
