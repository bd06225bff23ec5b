import Foundation
import TansuBSON
import Tansu
import Testing

@testable import TansuCommand

@Suite("tansu export")
struct ExportTests {
    private func withDocuments(_ lines: String) throws -> Command {
        let command = try Command()
        let result = try command.tansu(["import", "db", "-", "--collection", "c"], input: Array(lines.utf8))
        try #require(result.status == 0, "\(result.error)")
        return command
    }

    private let mixed = """
        {"_id": 1, "t": "a,b", "n": {"a": 1.5, "b": {"c": "x\\"y"}}, "l": [1, "x"], "e": "", "z": null, "code": "012"}
        {"_id": 2, "new": true, "n": {"a": 2}, "d": {"$date": "2020-01-02T03:04:05Z"}, "b": {"$binary": "AP8=", "$type": "00"}}

        """

    @Test("CSV has a column for every field, also of nested documents, and an import reads it back")
    func csv() throws {
        let command = try withDocuments(mixed)
        let result = try command.tansu("export", "db", "c", "--format", "csv")
        #expect(result.status == 0 && result.error.isEmpty)
        #expect(
            result.output == """
                _id,t,n.a,n.b.c,l,e,z,code,new,d,b
                1,"a,b",1.5,"x""y","[1,""x""]","",,"012",,,
                2,,2,,,,,,true,2020-01-02T03:04:05Z,"{""$binary"":{""base64"":""AP8="",""subType"":""00""}}"

                """)
        try command.write("back.csv", result.output)
        try command.succeed("import", "db", "back.csv", "--infer-types", "--dates", "d")
        let back = try command.tansu("find", "db", "back").documents()
        #expect(
            back[0] == [
                "_id": 1, "t": "a,b", "n": ["a": 1.5, "b": ["c": "x\"y"]], "l": "[1,\"x\"]", "e": "", "code": "012",
            ])
        #expect(back[1]["n"] == ["a": 2] && back[1]["d"] == .date(1_577_934_245_000))
    }

    @Test("--fields gives the order of the columns, --query, --sort and --max the rows")
    func selection() throws {
        let command = try Command.withPeople()
        let words = ["export", "people.tansu", "people", "--format", "tsv", "--fields", "age,name"]
        let result = try command.tansu(words + ["--query", "{\"age\": {\"$gt\": 30}}", "--sort", "-age"], input: [])
        #expect(result.output == "_id\tage\tname\nann\t41\tAnn\n7\t33\tCem\n")
        #expect(try command.tansu(words + ["--max", "1"], input: []).lines.count == 2)
    }

    @Test("--fields names all columns of a table, also those that no document has")
    func missingFields() throws {
        let command = try Command.withPeople()
        let words = ["export", "people.tansu", "people", "--format", "csv", "--fields", "absent,name,_id", "--query"]
        #expect(try command.tansu(words + ["{\"_id\": 7}"], input: []).output == "absent,name,_id\n,Cem,7\n")
        #expect(try command.tansu(words + ["{\"_id\": 99}"], input: []).output == "absent,name,_id\n")
    }

    @Test("dates keep their milliseconds, and are those of the Gregorian calendar, also before 1582")
    func dates() throws {
        let numbers = [-1, -1000, -1500, 500, -2_208_988_799_999, -62_135_596_799_999]
        let lines = numbers.map { "{\"_id\": \($0), \"d\": {\"$date\": {\"$numberLong\": \"\($0)\"}}}\n" }
        let command = try withDocuments(lines.joined())
        let words = ["export", "db", "c", "--format", "csv", "--sort", "-_id", "-o", "c.csv"]
        #expect(try command.tansu(words, input: []).status == 0)
        #expect(
            try command.text("c.csv") == """
                _id,d
                500,1970-01-01T00:00:00.500Z
                -1,1969-12-31T23:59:59.999Z
                -1000,1969-12-31T23:59:59Z
                -1500,1969-12-31T23:59:58.500Z
                -2208988799999,1900-01-01T00:00:00.001Z
                -62135596799999,0001-01-01T00:00:00.001Z

                """)
        try command.succeed("import", "db", "c.csv", "--collection", "c", "--infer-types", "--dates", "d")
        let back = try command.tansu("find", "db", "c").documents()
        #expect(Set(back.map { $0["d"] }) == Set(numbers.map { .date(Int64($0)) }))
    }

    @Test("text that begins as a formula is announced, and --spreadsheet makes it text")
    func formulas() throws {
        let command = try withDocuments("{\"_id\": 1, \"a\": \"=1+2\", \"b\": -5}\n{\"_id\": 2, \"a\": \"@x\"}\n")
        let plain = try command.tansu("export", "db", "c", "--format", "csv")
        #expect(plain.output == "_id,a,b\n1,=1+2,-5\n2,@x,\n")
        #expect(plain.error.contains("2 values that a spreadsheet may take for a formula"))
        let safe = try command.tansu("export", "db", "c", "--format", "csv", "--spreadsheet")
        #expect(safe.output == "\u{FEFF}_id,a,b\n1,'=1+2,-5\n2,'@x,\n" && safe.error.isEmpty)
    }

    @Test("Markdown has one line for each document, whatever is in it")
    func markdown() throws {
        let command = try withDocuments("{\"_id\": 1, \"a\": \"x|y\\nz <b> \\u001b[2J\"}\n")
        #expect(
            try command.tansu("export", "db", "c", "--format", "markdown").output
                == "| \\_id | a |\n| --- | --- |\n| 1 | x\\|y<br>z &lt;b> \\u001b\\[2J |\n")
    }

    @Test("JSON is one array or lines, and canonical when types are to be kept")
    func json() throws {
        let command = try withDocuments("{\"_id\": {\"$numberLong\": \"1\"}}\n{\"_id\": 2}\n")
        #expect(try command.tansu("export", "db", "c").output == "{\"_id\":1}\n{\"_id\":2}\n")
        #expect(
            try command.tansu("export", "db", "c", "--format", "json").output == "[\n{\"_id\":1},\n{\"_id\":2}\n]\n")
        #expect(try command.tansu("export", "db", "c", "--canonical").lines[0] == "{\"_id\":{\"$numberLong\":\"1\"}}")
        #expect(
            try command.tansu("export", "db", "c", "--format", "json", "--query", "{\"a\": 1}").output == "[]\n")
    }

    @Test(
        "a file is compressed by its extension, complete when it has its name, and not replaced",
        arguments: ["gz", "zst"])
    func files(compression: String) throws {
        if compression == "zst", (try? ZstdEncoder()) == nil { return }
        let command = try Command()
        let lines = (0..<20_000).map { "{\"_id\":\($0),\"t\":\"text \($0 * 7919)\"}\n" }.joined()
        try command.write("in.ndjson", lines)
        try command.succeed("import", "db", "in.ndjson", "--collection", "c")
        let file = "out.ndjson.\(compression)"
        let result = try command.tansu("export", "db", "c", "--output", file)
        #expect(result.status == 0 && result.output == "20,000 documents exported to \(file)\n", "\(result.error)")
        #expect(!command.exists(file + ".tansu-part"))
        let source = try openByteSource(path: command.path(file))
        #expect(try source.first(1 << 24) == Array(lines.utf8))
        try command.succeed("import", "db", file, "--collection", "back")
        #expect(try command.tansu("count", "db", "back").output == "20000\n")
        let again = try command.tansu("export", "db", "c", "--output", file)
        #expect(again.status == 73 && again.error.contains("exists already"))
        #expect(try command.tansu("export", "db", "c", "--output", "db/x.csv").status == 73)
        #expect(try command.tansu("export", "db", "absent", "--output", "other.csv").status == 66)
        let invalid = try command.tansu("export", "db", "c", "--query", "{\"$no\": 1}", "--output", "other.csv")
        #expect(invalid.status == 65 && invalid.error.contains("\"other.csv\" was not created"))
        #expect(!command.exists("other.csv") && !command.exists("other.csv.tansu-part"))
    }

    @Test("An export leaves another one to the same file alone")
    func twoAtOnce() throws {
        let command = try withDocuments("{\"_id\": 1}\n")
        let other = try StagedFile(path: command.path("out.csv"))
        let refused = try command.tansu("export", "db", "c", "--output", "out.csv")
        #expect(refused.status != 0 && refused.error.contains("out.csv"), "\(refused.error)")
        #expect(command.exists("out.csv.tansu-part") && !command.exists("out.csv"))
        other.discard()
        try command.succeed("export", "db", "c", "--output", "out.csv")
    }

    @Test("a damaged zstd file is an error with its name")
    func damagedZstd() throws {
        guard let encoder = try? ZstdEncoder() else { return }
        let command = try Command()
        let packed = try encoder.encode(Array(people.utf8), isEnd: true)
        try command.write("cut.zst", Array(packed.dropLast(5)))
        let result = try command.tansu("import", "db", "cut.zst")
        #expect(result.status == 65 && result.error.contains("BAD_ZSTD"), "\(result.error)")
        try command.write("window.zst", [0x28, 0xB5, 0x2F, 0xFD, 0, 0xFF, 1, 0, 0] as [UInt8])
        let window = try command.tansu("import", "db", "window.zst")
        #expect(window.status == 65 && window.error.contains("decompress it with \"zstd -d --long=31\""))
        try command.write("whole.zst", packed + packed)
        try command.succeed("import", "db", "whole.zst")
        #expect(try command.tansu("count", "db", "whole").output == "3\n")
    }

    @Test("options that exclude each other are refused")
    func usage() throws {
        let command = try Command.withPeople()
        for words in [
            ["--format", "csv", "--canonical"], ["--spreadsheet"], ["--format", "xml"],
            ["--format", "markdown", "--spreadsheet"],
        ] {
            #expect(try command.tansu(["export", "people.tansu", "people"] + words, input: []).status == 64)
        }
    }
}
