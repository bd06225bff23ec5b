import TansuBSON
import Testing

@testable import Tansu
@testable import TansuCommand

@Suite("tansu import")
struct ImportTests {
    @Test("lines are imported into the collection with the name of the file")
    func lines() throws {
        let command = try Command()
        try command.write("people.ndjson", people)
        let result = try command.tansu("import", "db", "people.ndjson")
        #expect(result.status == 0)
        #expect(result.output.hasPrefix("3 documents imported into people in "))
        #expect(result.error.isEmpty)
        #expect(try command.tansu("count", "db", "people").output == "3\n")
    }

    @Test("a JSON array, and gzip with any file name")
    func arrayAndGzip() throws {
        let command = try Command()
        try command.write("people.json", "[\n{\"_id\": 1},\n{\"_id\": 2}\n]")
        try command.write("packed", gzipped(people))
        #expect(try command.tansu("import", "db", "people.json").status == 0)
        #expect(try command.tansu("import", "db", "packed", "--collection", "people").status == 0)
        #expect(try command.tansu("count", "db", "people").output == "5\n")
    }

    @Test("standard input, plain and compressed, needs the name of a collection")
    func standardInput() throws {
        let command = try Command()
        #expect(try command.tansu("import", "db", "-", input: people).status == 64)
        #expect(!command.exists("db"))
        #expect(try command.tansu("import", "db", "-", "--collection", "p", input: people).status == 0)
        let packed = try command.tansu(["import", "db", "-", "--collection", "q"], input: gzipped(people))
        #expect(packed.status == 0)
        #expect(try command.tansu("count", "db", "p").output == "3\n")
        #expect(try command.tansu("count", "db", "q").output == "3\n")
    }

    private let withBadLines = """
        {"_id": 1}
        {"_id": 2,}

        nonsense
        {"_id": [5]}
        {"_id": 6, "a": 1, "a": 2}
        {"_id": 7}
        """

    @Test("invalid lines are reported with their numbers and skipped")
    func badLines() throws {
        let command = try Command()
        try command.write("x.ndjson", withBadLines)
        let result = try command.tansu("import", "db", "x.ndjson")
        #expect(result.status == 1)
        let locations = result.error.split(separator: "\n").map { $0.prefix { $0 != " " } }
        #expect(locations.count == 4)
        #expect(Set(locations) == ["x.ndjson:2:", "x.ndjson:4:", "x.ndjson:5:", "x.ndjson:6:"])
        #expect(result.output.contains("2 documents imported"))
        #expect(result.output.contains("4 invalid documents skipped"))
        let ids = try command.tansu("find", "db", "x").documents().map { $0["_id"] }
        #expect(ids == [.int32(1), .int32(7)])
    }

    @Test("--json lists invalid lines")
    func badLinesInJSON() throws {
        let command = try Command()
        try command.write("x.ndjson", withBadLines)
        let result = try command.tansu("import", "db", "x.ndjson", "--json")
        #expect(result.status == 1)
        #expect(result.error.isEmpty)
        let answer = try result.json()
        #expect(answer["ok"] == .bool(true))
        #expect(answer["imported"]?.intValue == 2)
        #expect(answer["bad"]?.intValue == 4)
        let bad = answer["badLines"]?.arrayValue?.compactMap(\.documentValue) ?? []
        #expect(Set(bad.map { $0["line"]?.intValue }) == [2, 4, 5, 6])
        #expect(bad.count == 4)
        #expect(bad.allSatisfy { $0["message"]?.stringValue?.isEmpty == false })
    }

    @Test("--strict stops at the first invalid line and saves the documents before it")
    func strict() throws {
        let command = try Command()
        try command.write("x.ndjson", withBadLines)
        let result = try command.tansu("import", "db", "x.ndjson", "--strict")
        #expect(result.status == 65)
        #expect(result.error.contains("line 2"))
        #expect(result.error.contains("; 1 document before it is saved [BAD_LINE, line 2]"))
        #expect(try command.tansu("count", "db", "x").output == "1\n")
    }

    @Test("--strict saves the documents before a document that the engine rejects")
    func strictRefused() throws {
        let command = try Command()
        let lines = "{\"_id\": 1}\n{\"_id\": [2]}\n{\"_id\": 3}\n"
        let result = try command.tansu("import", "db", "-", "--collection", "x", "--strict", input: lines)
        #expect(result.status == 65)
        #expect(result.error.contains("line 2"))
        #expect(try command.tansu("count", "db", "x").output == "1\n")
    }

    @Test("a document that violates a unique index is an invalid line")
    func unique() throws {
        let command = try Command.withPeople()
        #expect(try command.tansu("index", "create", "people.tansu", "people", "name", "--unique").status == 0)
        let lines = "{\"name\": \"Dan\"}\n{\"name\": \"Ann\"}\n{\"name\": \"Eve\"}\n"
        let result = try command.tansu(
            "import", "people.tansu", "-", "--collection", "people", input: lines)
        #expect(result.status == 1)
        #expect(result.error.hasPrefix("standard input:2:"))
        #expect(try command.tansu("count", "people.tansu", "people").output == "5\n")
    }

    @Test("another import with --id replaces documents, with --drop replaces the collection, otherwise inserts")
    func again() throws {
        let command = try Command()
        let lines = "{\"name\": \"Ann\"}\n{\"name\": \"Bob\"}\n"
        func importLines(_ options: String...) throws -> CommandResult {
            try command.tansu(["import", "db", "-", "--collection", "c"] + options, input: Array(lines.utf8))
        }
        func count() throws -> String { try command.tansu("count", "db", "c").output }
        for expected in ["2\n", "2\n"] {
            #expect(try importLines("--id", "name").status == 0)
            #expect(try count() == expected)
        }
        #expect(try command.tansu("get", "db", "c", "Ann").status == 0)
        #expect(try importLines().status == 0)
        #expect(try count() == "4\n")
        #expect(try importLines("--drop").status == 0)
        #expect(try count() == "2\n")
    }

    @Test("--drop keeps the options of the collection, and removes nothing that refers to it")
    func dropWithReferences() throws {
        let command = try Command()
        do {
            let db = try Database(path: command.path("db"))
            try db.setReferences(
                [.init("author", to: "authors", onDelete: .cascade), .init("critic", to: "authors", onDelete: .deny)],
                of: "books")
            try db.setReferences([.init("teacher", to: "authors", onDelete: .cascade)], of: "authors")
            try db.setTimestamps(Database.Timestamps(), of: "authors")
            try db.collection("authors").save([["_id": 1], ["_id": 2, "teacher": 1]])
            try db.collection("books").save([["_id": 10, "author": 1], ["_id": 11, "author": 2, "critic": 1]])
            try db.close()
        }
        let lines = "{\"_id\": 1, \"name\": \"new\"}\n"
        let result = try command.tansu(
            ["import", "db", "-", "--collection", "authors", "--drop"], input: Array(lines.utf8))
        #expect(result.status == 0, "\(result.error)")
        let db = try Database(path: command.path("db"))
        #expect(try db.collection("books").count() == 2)
        let author = try #require(try db.collection("authors").get(1))
        #expect(author["name"] == "new" && author["createdAt"] != nil)
        let infos = try db.collections()
        #expect(infos.map(\.name) == ["authors", "books"])
        #expect(infos.map(\.references.count) == [1, 2] && infos[0].timestamps == Database.Timestamps())
        #expect(try db.danglingReferences().references.map(\.value) == [2])
        // The rules hold again.
        #expect(throws: TansuError.self) { try db.collection("authors").remove(id: 1) }
    }

    @Test("--mode says what happens to an _id that exists, and the result says what did")
    func modes() throws {
        let command = try Command.withPeople()
        let lines = "{\"_id\": 8}\n{\"_id\": 7, \"age\": 1}\n{\"_id\": 9}\n{\"_id\": 8, \"n\": 2}\n"
        func result(_ mode: String...) throws -> (CommandResult, [Int?]) {
            let words = ["import", "people.tansu", "-", "--collection", "people", "--json"] + mode
            let result = try command.tansu(words, input: Array(lines.utf8))
            let json = try result.json()
            return (result, ["imported", "replaced", "skipped", "bad"].map { json[$0]?.intValue })
        }
        let (skip, skipped) = try result("--mode", "skip")
        #expect(skip.status == 0 && skipped == [2, 0, 2, 0])
        let (insert, inserted) = try result("--mode", "insert")
        #expect(insert.status == 1 && inserted == [0, 0, 0, 4])
        #expect(
            try insert.json()["badLines"]?.arrayValue?.first?.documentValue?["message"]?.stringValue?.contains("_id 8")
                == true)
        #expect(try command.tansu("get", "people.tansu", "people", "7").json()["age"] == 33)
        let (replace, replaced) = try result()
        #expect(replace.status == 0 && replaced == [4, 4, 0, 0])
        #expect(try command.tansu("get", "people.tansu", "people", "7").json()["age"] == 1)
        let text = try command.tansu(
            "import", "people.tansu", "-", "--collection", "people", input: "{\"_id\": 10}\n{\"_id\": 7}\n")
        #expect(text.output.hasSuffix(", 1 of them replaced others\n"))
        #expect(try command.tansu("import", "people.tansu", "-", "--collection", "c", "--mode", "merge").status == 64)
    }

    @Test("--id does not replace an _id")
    func existingID() throws {
        let command = try Command()
        let lines = "{\"_id\": 1, \"name\": \"Ann\"}\n{\"name\": \"Bob\"}\n"
        let result = try command.tansu("import", "db", "-", "--collection", "c", "--id", "name", input: lines)
        #expect(result.status == 0)
        #expect(try command.tansu("find", "db", "c").documents().map { $0["_id"] } == [1, "Bob"])
        let wrong = try command.tansu("import", "db", "-", "--collection", "c", "--id", "nosuch", input: lines)
        #expect(
            wrong.status == 1 && wrong.error.contains("input:1: The document has no field \"nosuch\""), "\(wrong.error)"
        )
    }

    @Test("a batch is committed when it is large, even with few documents")
    func batchBytes() throws {
        let command = try Command()
        try command.write("x", (1...5).map { "{\"_id\": \($0), \"text\": \"0123456789\"}\n" }.joined())
        let database = try Database(path: command.path("db"))
        defer { try? database.close() }
        var settings = ImportJob.Settings()
        settings.batchBytes = 50
        let job = ImportJob(database: database, collection: "c", settings: settings)
        var lines: [Int] = []
        job.onCommit = { lines.append($0.line) }
        try job.run(DocumentReader(try openByteSource(path: command.path("x"))))
        #expect(lines == [2, 4, 5])
        #expect(job.imported == 5)
    }

    @Test("a document without the field of --id is an invalid line")
    func missingID() throws {
        let command = try Command()
        let result = try command.tansu(
            "import", "db", "-", "--collection", "c", "--id", "name", input: "{\"name\": 1}\n{}\n")
        #expect(result.status == 1)
        #expect(result.error.contains("standard input:2:"))
    }

    @Test("--verbose reports each commit")
    func verbose() throws {
        let command = try Command()
        let lines = (1...25).map { "{\"_id\": \($0)}\n" }.joined()
        let result = try command.tansu(
            "import", "db", "-", "--collection", "c", "--batch", "10", "--verbose", input: lines)
        #expect(
            result.error == """
                committed 10 documents, up to line 10
                committed 20 documents, up to line 20
                committed 25 documents, up to line 25

                """)
    }

    @Test("pretty-printed documents are imported, and one that is invalid is skipped")
    func prettyPrinted() throws {
        let command = try Command()
        let text =
            "{\n  \"_id\": 1\n}\n{\n  \"_id\": 2,\n  \"a\": [\n    {\n      \"b\": }\n  ]\n}\n{\n  \"_id\": 3\n}\n"
        let result = try command.tansu("import", "db", "-", "--collection", "c", input: text)
        #expect(result.status == 1)
        #expect(result.error.hasPrefix("standard input:4: ") && result.error.contains("of the document)"))
        #expect(try command.tansu("find", "db", "c").documents().map { $0["_id"] } == [1, 3])
    }

    @Test("a missing file neither creates a database nor drops a collection")
    func noFile() throws {
        let command = try Command.withPeople()
        let result = try command.tansu(
            "import", "people.tansu", "absent.ndjson", "--collection", "people", "--drop")
        #expect(result.status == 66)
        #expect(try command.tansu("count", "people.tansu", "people").output == "3\n")
        #expect(try command.tansu("import", "new", "absent.ndjson").status == 66)
        #expect(!command.exists("new"))
    }

    @Test("a truncated gzip file is an error; the documents before the end are saved")
    func truncated() throws {
        let command = try Command()
        let lines = (0..<50_000).map { "{\"_id\": \($0)}\n" }.joined()
        try command.write("x.gz", Array(gzipped(lines).dropLast(2000)))
        let result = try command.tansu("import", "db", "x.gz")
        #expect(result.status == 65)
        #expect(result.error.contains("BAD_GZIP"))
        let count = try #require(Int(command.tansu("count", "db", "x").output.dropLast()))
        #expect(count > 10_000 && count < 50_000)
    }

    @Test("an invalid collection name is a single error")
    func badName() throws {
        let command = try Command()
        let name = String(repeating: "x", count: 200)
        let result = try command.tansu("import", "db", "-", "--collection", name, input: people)
        #expect(result.status == 65)
        #expect(result.error.contains("INVALID_NAME"))
        #expect(result.error.split(separator: "\n").count == 1)
    }
}
