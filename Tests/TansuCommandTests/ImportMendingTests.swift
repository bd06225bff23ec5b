import Foundation
import TansuBSON
import Testing

@testable import TansuCommand

@Suite("tansu import --dry-run, --rejects and --after")
struct ImportMendingTests {
    @Test("--dry-run says how many documents there are and the types of their fields, and creates nothing")
    func dryRun() throws {
        let command = try Command()
        try command.write("c.ndjson", "{\"_id\": 1, \"a\": {\"b\": 1}}\n{bad\n{\"_id\": 2, \"a\": \"x\"}\n")
        let result = try command.tansu("import", "db", "c.ndjson", "--dry-run")
        #expect(result.status == 1)
        #expect(result.error.hasPrefix("c.ndjson:2: "))
        #expect(result.output.hasPrefix("2 documents would be imported into c, 1 invalid document skipped\n"))
        let answer = try command.tansu("import", "db", "c.ndjson", "--dry-run", "--json").json()
        #expect(answer["documents"] == 2 && answer["bad"] == 1)
        #expect(
            answer["fields"] == [
                ["path": "_id", "types": ["int": 2]], ["path": "a.b", "types": ["int": 1]],
                ["path": "a", "types": ["string": 1]],
            ])
        #expect(!command.exists("db"))
    }

    @Test("--rejects has the invalid documents with their places, and can be imported when it is mended")
    func rejects() throws {
        let command = try Command()
        try command.write("c.csv", "a;b\n1;2\n3\n\"x\ny\";4;5\n6;7\n")
        let result = try command.tansu("import", "db", "c.csv", "--rejects", "bad.csv")
        #expect(result.status == 1)
        let bad = try command.text("bad.csv")
        #expect(
            bad == """
                a;b
                #tansu c.csv:3: The row has 1 value, and the header has 2
                3
                #tansu c.csv:4: The row has 3 values, and the header has 2
                "x
                y";4;5

                """)
        try command.write("mended.csv", bad.replacing("\n3\n", with: "\n3;4\n").replacing(";4;5", with: ";4"))
        let mended = try command.tansu("import", "db", "mended.csv", "--collection", "c", "--rejects", "none.csv")
        #expect(mended.status == 0, "\(mended.error)")
        #expect(try command.tansu("count", "db", "c").output == "4\n")
        #expect(!command.exists("none.csv"))
        #expect(try command.tansu("import", "db", "c.csv", "--rejects", "bad.csv").status == 73)
        let absent = try command.tansu("import", "other", "c.csv", "--rejects", "absent/bad.csv")
        #expect(absent.status == 73 && absent.error.contains("nothing was changed") && !command.exists("other"))
    }

    @Test("a document that the database refuses is among the rejects, too")
    func refused() throws {
        let command = try Command.withPeople()
        try command.succeed("index", "create", "people.tansu", "people", "name", "--unique")
        let lines = "{\"_id\": 8, \"name\": \"Ann\"}\n{\"_id\": 9, \"name\": \"Eve\"}\n{\"_id\": 1,}\n"
        let words = ["import", "people.tansu", "-", "--collection", "people", "--rejects", "bad"]
        #expect(try command.tansu(words, input: Array(lines.utf8)).status == 1)
        let bad = try command.text("bad").split(separator: "\n").map(String.init)
        #expect(Set(bad.filter { !$0.hasPrefix("#tansu ") }) == ["{\"_id\": 8, \"name\": \"Ann\"}", "{\"_id\": 1,}"])
        #expect(bad.count == 4)
    }

    @Test("an interrupted import names the line after which --after goes on")
    func after() throws {
        let command = try Command()
        // A pipe that stays open, so that the import waits for more.
        let pipe = Pipe()
        let process = try command.start(
            ["import", "db", "-", "--collection", "c", "--batch", "10", "--verbose"], input: pipe)
        let lines = (1...25).map { "{\"n\": \($0)}\n" }
        try pipe.fileHandleForWriting.write(contentsOf: Data(lines.joined().utf8))
        while try !command.text("error").contains("up to line 20") { usleep(10_000) }
        process.interrupt()
        process.waitUntilExit()
        #expect(process.terminationStatus == 130)
        let error = try command.text("error")
        let place = try #require(error.components(separatedBy: "go on with \"--after ").last?.prefix { $0 != "\"" })
        #expect(Int(place) == 25, "\(error)")
        let more = (lines + ["{\"n\": 26}\n", "{\"n\": 27}\n"]).joined()
        let words = ["import", "db", "-", "--collection", "c", "--after", String(place)]
        #expect(try command.tansu(words, input: Array(more.utf8)).status == 0)
        #expect(try command.tansu("find", "db", "c").documents().map { $0["n"]?.intValue } == Array(1...27))
        #expect(try command.tansu(words + ["--drop"], input: []).status == 64)
    }

    @Test("an import of an array goes on behind one of the elements of a line")
    func afterElement() throws {
        let command = try Command()
        let pipe = Pipe()
        let process = try command.start(
            ["import", "db", "-", "--collection", "c", "--batch", "10", "--verbose"], input: pipe)
        let elements = (1...27).map { "{\"n\": \($0)}" }
        try pipe.fileHandleForWriting.write(contentsOf: Data("[\(elements[..<25].joined(separator: ",")),".utf8))
        while try !command.text("error").contains("up to line 1:20") { usleep(10_000) }
        process.interrupt()
        process.waitUntilExit()
        #expect(try command.text("error").contains("go on with \"--after 1:25\""))
        try command.write("c.json", "[\(elements.joined(separator: ","))]")
        let words = ["import", "db", "c.json", "--after", "1:25"]
        let preview = try command.tansu(words + ["--dry-run", "--json"], input: []).json()
        #expect(preview["documents"] == 2)
        try command.succeed("import", "db", "c.json", "--after", "1:25")
        #expect(try command.tansu("find", "db", "c").documents().map { $0["n"]?.intValue } == Array(1...27))
        let none = try command.tansu("import", "db", "c.json", "--after", "2")
        #expect(none.status == 0 && none.error == "tansu: Warning: There is no document after line 2 of c.json\n")
        for place in ["0", "1:0", "1:", "a", "1:2:3", ""] {
            #expect(try command.tansu("import", "db", "c.json", "--after", place).status == 64, "\(place)")
        }
    }

    @Test("an error after a commit names the line after which --after goes on")
    func afterError() throws {
        let command = try Command()
        let line = "{\"s\": \"\(String(repeating: "x", count: 1000))\"}\n"
        try command.write("c.ndjson", String(repeating: line, count: 200))
        try command.succeed("collections", "create", "db", "c")
        let result = try command.shell("ulimit -S -f 100; tansu import db c.ndjson --batch 10")
        #expect(result.status == 74, "\(result.error)")
        let count = try #require(try Int(command.tansu("count", "db", "c").lines[0]))
        #expect(count > 0 && count < 200)
        let words = "\(count) documents before it are saved; go on with \"--after \(count)\""
        #expect(result.error.contains(words), "\(result.error)")
    }

    @Test("--rejects has what there is of an array that does not end")
    func openArray() throws {
        let command = try Command()
        try command.write("c.json", "[{\"_id\": 1},\n{\"_id\": 2}\n")
        #expect(try command.tansu("import", "db", "c.json", "--rejects", "bad").status == 1)
        #expect(try command.text("bad") == "#tansu c.json:2: The array does not end with ']'\n{\"_id\": 2}\n")
        try command.succeed("import", "db", "bad", "--collection", "c")
        #expect(try command.tansu("count", "db", "c").output == "2\n")
    }

    @Test("a file of rejects is JSON whatever the reasons say")
    func reasons() throws {
        let command = try Command()
        try command.write("c.ndjson", "{\"_id\": [1]}\n{\"_id\": 2}\n")
        #expect(try command.tansu("import", "db", "c.ndjson", "--rejects", "bad").status == 1)
        let bad = try command.text("bad")
        #expect(bad.contains(";"))
        try command.write("bad", bad.replacing("[1]", with: "1"))
        try command.succeed("import", "db", "bad", "--collection", "c")
        #expect(try command.tansu("count", "db", "c").output == "2\n")
    }

    @Test("a separator that was guessed is said, unless it is a comma")
    func guessedSeparator() throws {
        let command = try Command()
        try command.write("c.csv", "a|b\n1|2\n")
        let result = try command.tansu("import", "db", "c.csv")
        #expect(result.status == 0 && result.error.hasPrefix("tansu: The values are separated by \"|\""))
        for words in [["--delimiter", "|"], ["--json"]] {
            #expect(try command.tansu(["import", "db", "c.csv"] + words, input: []).error.isEmpty)
        }
        try command.write("d.csv", "a,b\n1,2\n")
        #expect(try command.tansu("import", "db", "d.csv").error.isEmpty)
    }
}
