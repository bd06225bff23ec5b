import TansuBSON
import Testing

@testable import TansuCommand

@Suite("tansu import")
struct ImportTests {
    @Test("lines become documents of the collection that the file names")
    func lines() throws {
        let command = try Command()
        try command.write("people.ndjson", people)
        let result = try command.tansu("import", "db", "people.ndjson")
        #expect(result.status == 0)
        #expect(result.output.hasPrefix("3 documents imported into people in "))
        #expect(result.error.isEmpty)
        #expect(try command.tansu("count", "db", "people").output == "3\n")
    }

    @Test("a JSON array, and gzip whatever the file is called")
    func arrayAndGzip() throws {
        let command = try Command()
        try command.write("people.json", "[\n{\"_id\": 1},\n{\"_id\": 2}\n]")
        try command.write("packed", gzipped(people))
        #expect(try command.tansu("import", "db", "people.json").status == 0)
        #expect(try command.tansu("import", "db", "packed", "--collection", "people").status == 0)
        #expect(try command.tansu("count", "db", "people").output == "5\n")
    }

    @Test("standard input, plain and compressed; it needs a collection's name")
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
        {"_id": 5, "$set": 1}
        {"_id": 6, "a": 1, "a": 2}
        {"_id": 7}
        """

    @Test("bad lines are told with their numbers and counted, and the others are imported")
    func badLines() throws {
        let command = try Command()
        try command.write("x.ndjson", withBadLines)
        let result = try command.tansu("import", "db", "x.ndjson")
        #expect(result.status == 1)
        let places = result.error.split(separator: "\n").map { $0.prefix { $0 != " " } }
        #expect(Set(places) == ["x.ndjson:2:", "x.ndjson:4:", "x.ndjson:5:", "x.ndjson:6:"])
        #expect(result.output.contains("2 documents imported"))
        #expect(result.output.contains("4 bad lines left out"))
        let ids = try command.tansu("find", "db", "x").documents().map { $0["_id"] }
        #expect(ids == [.int32(1), .int32(7)])
    }

    @Test("bad lines in JSON")
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
        #expect(bad.allSatisfy { $0["message"]?.stringValue?.isEmpty == false })
    }

    @Test("--strict stops at the first bad line and keeps what stands before it")
    func strict() throws {
        let command = try Command()
        try command.write("x.ndjson", withBadLines)
        let result = try command.tansu("import", "db", "x.ndjson", "--strict")
        #expect(result.status == 65)
        #expect(result.error.contains("line 2"))
        #expect(result.error.contains("1 document before it is kept"))
        #expect(try command.tansu("count", "db", "x").output == "1\n")
    }

    @Test("--strict keeps what stands before a document that the engine refuses")
    func strictRefused() throws {
        let command = try Command()
        let lines = "{\"_id\": 1}\n{\"_id\": 2, \"$set\": 1}\n{\"_id\": 3}\n"
        let result = try command.tansu("import", "db", "-", "--collection", "x", "--strict", input: lines)
        #expect(result.status == 65)
        #expect(result.error.contains("line 2"))
        #expect(try command.tansu("count", "db", "x").output == "1\n")
    }

    @Test("a value that a unique index has is a bad line")
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

    @Test("importing again with --id replaces, with --drop starts anew, without either adds")
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

    @Test("a document without the field of --id is a bad line")
    func missingID() throws {
        let command = try Command()
        let result = try command.tansu(
            "import", "db", "-", "--collection", "c", "--id", "name", input: "{\"name\": 1}\n{}\n")
        #expect(result.status == 1)
        #expect(result.error.contains("standard input:2:"))
    }

    @Test("each commit is told with --verbose, batch by batch")
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

    @Test("a pretty-printed document in a file of lines is explained")
    func prettyPrinted() throws {
        let command = try Command()
        let result = try command.tansu("import", "db", "-", "--collection", "c", input: "{\n  \"a\": 1\n}\n")
        #expect(result.status == 1)
        #expect(result.error.contains("standard input:1: A document must stand on one line"))
    }

    @Test("a file that is not there makes no database and costs no collection")
    func noFile() throws {
        let command = try Command.withPeople()
        let result = try command.tansu(
            "import", "people.tansu", "absent.ndjson", "--collection", "people", "--drop")
        #expect(result.status == 66)
        #expect(try command.tansu("count", "people.tansu", "people").output == "3\n")
        #expect(try command.tansu("import", "new", "absent.ndjson").status == 66)
        #expect(!command.exists("new"))
    }

    @Test("a compressed file that ends too early is an error; what was whole is kept")
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

    @Test("a name that no collection can have is one mistake, not one a line")
    func badName() throws {
        let command = try Command()
        let name = String(repeating: "x", count: 200)
        let result = try command.tansu("import", "db", "-", "--collection", name, input: people)
        #expect(result.status == 65)
        #expect(result.error.contains("INVALID_NAME"))
        #expect(result.error.split(separator: "\n").count == 1)
    }
}
