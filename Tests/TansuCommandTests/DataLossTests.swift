import Foundation
import TansuBSON
import Testing

@testable import TansuCommand

@Suite("What a command that fails leaves")
struct DataLossTests {
    @Test(
        "import --drop keeps the collection when the file is not imported",
        arguments: [
            ("", []), ("nonsense\n", []), ("{\"_id\": 8}\n{\"_id\": 9,}\n", ["--strict"]),
            ("{\"name\": 1}\n{}\n", ["--id", "name", "--strict"]),
        ])
    func dropOfBadFile(text: String, options: [String]) throws {
        let command = try Command.withPeople()
        try command.succeed("index", "create", "people.tansu", "people", "name")
        let result = try command.tansu(
            ["import", "people.tansu", "-", "--collection", "people", "--drop"] + options, input: Array(text.utf8))
        #expect([65, 66].contains(result.status))
        #expect(result.error.contains("was not dropped") || result.error.contains("nothing was changed"))
        #expect(try command.tansu("count", "people.tansu", "people").output == "3\n")
        #expect(try command.tansu("index", "list", "people.tansu", "people").status == 0)
        #expect(try command.tansu("collections", "people.tansu").lines.count == 3)
    }

    @Test("import --drop keeps the collection when the file is truncated or of another kind")
    func dropOfWrongFile() throws {
        let command = try Command.withPeople()
        let lines = (0..<50_000).map { "{\"_id\": \($0)}\n" }.joined()
        try command.write("people.gz", Array(gzipped(lines).dropLast(2000)))
        try command.succeed("backup", "people.tansu", "backup", "--file")
        for file in ["people.gz", "backup", "people.tansu"] {
            let result = try command.tansu(
                "import", "people.tansu", file, "--collection", "people", "--drop")
            #expect(result.status == 65, "\(result.error)")
            #expect(try command.tansu("count", "people.tansu", "people").output == "3\n")
        }
    }

    @Test("import --drop replaces the documents and the indexes, also after an import that was killed")
    func drop() throws {
        let command = try Command.withPeople()
        try command.succeed("index", "create", "people.tansu", "people", "name")
        try command.succeed("save", "people.tansu", "people.tansu-part", "{\"_id\": \"left\"}")
        let result = try command.tansu(
            "import", "people.tansu", "-", "--collection", "people", "--drop",
            input: "{\"_id\": 8}\nbad\n{\"_id\": 9}\n")
        #expect(result.status == 1)
        #expect(try command.tansu("find", "people.tansu", "people").documents() == [["_id": 8], ["_id": 9]])
        #expect(try command.tansu("index", "list", "people.tansu", "people").status == 1)
        #expect(try command.tansu("collections", "people.tansu").lines.count == 3)
    }

    @Test(
        "a command that fails leaves no empty database",
        arguments: [
            ["import", "new", "bad.ndjson"], ["import", "new", "bad.ndjson", "--strict"],
            ["import", "new", "good.ndjson", "--collection", String(repeating: "x", count: 200)],
            ["load", "new", "bad.ndjson", "--collection", "c"], ["load", "new", "good.ndjson"],
            ["save", "new", "c", "{\"_id\": [1]}"], ["save", "new", "$c", "{}"], ["import", "new", "header.csv"],
        ])
    func emptyDatabase(words: [String]) throws {
        let command = try Command()
        try command.write("bad.ndjson", "{\"_id\": }\n")
        try command.write("good.ndjson", "{\"_id\": 1}\n")
        try command.write("header.csv", "a,a\n1,2\n")
        let files = try FileManager.default.contentsOfDirectory(atPath: command.folder.path)
        let result = try command.tansu(words, input: [])
        #expect(result.status != 0)
        #expect(try Set(FileManager.default.contentsOfDirectory(atPath: command.folder.path)) == Set(files))
        try FileManager.default.createDirectory(atPath: command.path("new"), withIntermediateDirectories: true)
        #expect(try command.tansu(words, input: []).status != 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: command.path("new")).isEmpty)
    }

    @Test("a failing command keeps a database that has documents, and one that was empty before")
    func keptDatabase() throws {
        let command = try Command()
        try command.write("c.ndjson", "{\"_id\": 1}\n{\"_id\": }\n")
        #expect(try command.tansu("import", "some", "c.ndjson", "--strict").status == 65)
        #expect(try command.tansu("count", "some", "c").output == "1\n")
        try command.succeed("collections", "drop", "some", "c")
        #expect(try command.tansu("save", "some", "c", "{\"_id\": [1]}").status == 65)
        #expect(try command.tansu("collections", "some").error.contains("has no collections"))
    }

    @Test("a command that waited for the database is not affected by the removal of an empty one")
    func waiterOfRemovedDatabase() throws {
        let command = try Command()
        let pipe = Pipe()
        let first = try command.start(["import", "new", "-", "--collection", "c"], input: pipe)
        // The first bytes say whether the input is compressed.
        try pipe.fileHandleForWriting.write(contentsOf: Data("\n\n".utf8))
        while !command.exists("new/MANIFEST") { usleep(1000) }
        let second = try command.start(["save", "new", "c", "{\"_id\": 7}", "--wait", "60"])
        usleep(50_000)
        try pipe.fileHandleForWriting.write(contentsOf: Data("nonsense\n".utf8))
        try pipe.fileHandleForWriting.close()
        first.waitUntilExit()
        second.waitUntilExit()
        #expect(first.terminationStatus == 1)
        // It found the database, or it was told that it could not be opened; what it saved is there.
        let count = try command.tansu("count", "new", "c")
        #expect(second.terminationStatus == 0 ? count.output == "1\n" : count.status == 66)
    }

    @Test("Ctrl-C ends an import and says what was kept", arguments: [false, true])
    func interruptedImport(drop: Bool) throws {
        let command = try Command.withPeople()
        let pipe = Pipe()
        let words = ["import", "people.tansu", "-", "--collection", "people", "--batch", "10", "--verbose"]
        let process = try command.start(words + (drop ? ["--drop"] : []), input: pipe)
        let lines = (1...25).map { "{\"_id\": \($0)}\n" }.joined()
        try pipe.fileHandleForWriting.write(contentsOf: Data(lines.utf8))
        while try command.text("error").split(separator: "\n").count < 2 { usleep(1000) }
        process.interrupt()
        process.waitUntilExit()
        #expect(process.terminationReason == .exit && process.terminationStatus == 130)
        let kept = drop ? "nothing was changed" : "25 documents before it are saved; go on with \"--after 25\""
        #expect(try command.text("error").contains("tansu: The command was interrupted; \(kept) [INTERRUPTED]\n"))
        #expect(try command.tansu("count", "people.tansu", "people").output == (drop ? "3\n" : "27\n"))
        #expect(try command.tansu("collections", "people.tansu").lines.count == 3)
    }

    @Test(
        "Ctrl-C ends a backup, a dump or a load, and leaves nothing incomplete", arguments: ["backup", "dump", "load"])
    func interruptedTransfer(name: String) throws {
        let command = try Command()
        let text = String(repeating: "x", count: 1000)
        try command.write("c.ndjson", (1...30_000).map { "{\"_id\": \($0), \"t\": \"\(text)\"}\n" }.joined())
        try command.succeed("import", "db", "c.ndjson", "--batch", "10000")
        let words =
            switch name {
            case "backup": ["backup", "db", "to", "--file"]
            case "dump": ["dump", "db", "--output", "to"]
            default: ["load", "to", "c.ndjson", "--collection", "c", "--atomic"]
            }
        let process = try command.start(words)
        let begun = name == "load" ? "to/MANIFEST" : "to.tansu-part"
        while process.isRunning, !command.exists(begun) { usleep(200) }
        process.interrupt()
        process.waitUntilExit()
        let status = process.terminationStatus
        try #require(process.terminationReason == .exit && [0, 130].contains(status))
        #expect(command.exists("to") == (status == 0))
        #expect(!command.exists("to.tansu-part"))
    }

    @Test("a dump that is killed leaves nothing under its name, and another one replaces what it left")
    func killedDump() throws {
        let command = try Command.withPeople()
        try command.write("d.tansu-part", "what a killed dump left")
        try command.succeed("dump", "people.tansu", "--output", "d")
        #expect(!command.exists("d.tansu-part"))
        #expect(try command.text("d").hasPrefix("{\"$dump\""))
    }
}
