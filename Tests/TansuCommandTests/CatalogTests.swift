import TansuBSON
import Testing

@Suite("tansu index, collections and stats")
struct CatalogTests {
    @Test("an index is created, listed and dropped by its name")
    func index() throws {
        let command = try Command.withPeople()
        let none = try command.tansu("index", "list", "people.tansu", "people")
        #expect(none.status == 1 && none.output.isEmpty)
        let made = try command.tansu("index", "create", "people.tansu", "people", "name,-age")
        #expect(made.status == 0)
        #expect(made.output.hasPrefix("Index name_1_age_-1 is there"))
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

    @Test("an index has the options that it was given, and the list tells them")
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
        let bad = try command.tansu(create + ["age", "--partial-filter", "{\"a\": {\"$regex\": \"x\"}}"], input: [])
        #expect(bad.status == 65 && bad.error.contains("INVALID_INDEX"))
        #expect(try command.tansu(create + ["age", "--partial-filter", "{"], input: []).status == 65)
    }

    @Test("a terminal sees how far the building of an index is, and nobody else")
    func indexProgress() throws {
        let command = try Command()
        try command.write("n.ndjson", String(repeating: "{\"n\": 1}\n", count: 2000))
        try command.tansu("import", "n.tansu", "n.ndjson")
        let create = ["index", "create", "n.tansu", "n", "n", "--name"]
        let terminal = try PseudoTerminal()
        let watched = try command.tansu(create + ["watched"], errorsOn: terminal)
        #expect(watched.status == 0 && watched.output.hasPrefix("Index watched is there"))
        #expect(watched.error.contains("watched") && watched.error.contains("documents"))
        // The line is gone in the end.
        #expect(watched.error.hasSuffix("\r\u{1B}[2K"))
        let silent = try command.tansu(create + ["silent"], input: [])
        #expect(silent.status == 0 && silent.error.isEmpty)
    }

    @Test("the same index again does no harm; the name with other keys is refused")
    func indexAgain() throws {
        let command = try Command.withPeople()
        let create = ["index", "create", "people.tansu", "people", "name", "--name", "n"]
        #expect(try command.tansu(create, input: []).status == 0)
        #expect(try command.tansu(create, input: []).status == 0)
        let other = try command.tansu("index", "create", "people.tansu", "people", "age", "--name", "n")
        #expect(other.status == 65)
        #expect(other.error.contains("[EXISTS"))
    }

    @Test("a direction that is none is refused with its code")
    func badIndex() throws {
        let command = try Command.withPeople()
        let result = try command.tansu("index", "create", "people.tansu", "people", "{\"a\": 2}")
        #expect(result.status == 65)
        #expect(result.error.contains("INVALID_INDEX"))
    }

    @Test("collections are listed, renamed and removed")
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
        #expect(try command.tansu("collections", "remove", "people.tansu", "people").status == 66)
        #expect(try command.tansu("collections", "remove", "people.tansu", "crowd").status == 0)
        #expect(try command.tansu("collections", "people.tansu").status == 1)
    }

    @Test("a name that is taken is refused")
    func renameTaken() throws {
        let command = try Command.withPeople()
        try command.tansu("save", "people.tansu", "other", "{}")
        let result = try command.tansu("collections", "rename", "people.tansu", "people", "other")
        #expect(result.status == 65)
        #expect(result.error.contains("[EXISTS"))
    }

    @Test("figures for people and for programs")
    func stats() throws {
        let command = try Command.withPeople()
        let text = try command.tansu("stats", "people.tansu")
        #expect(text.status == 0)
        #expect(text.output.contains("people"))
        let json = try command.tansu("stats", "people.tansu", "--json").json()
        #expect(json["ok"] == .bool(true))
        let collections = json["stats"]?.documentValue?["collections"]?.arrayValue
        #expect(collections?.first?.documentValue?["documents"]?.intValue == 3)
    }
}
