import TansuBSON
import Testing

@Suite("tansu backup, restore, dump and load")
struct BackupTests {
    @Test("a backup is restored with the same documents", arguments: [[], ["--file"]])
    func backup(flags: [String]) throws {
        let command = try Command.withPeople()
        let made = try command.tansu(["backup", "people.tansu", "saved", "--json"] + flags, input: [])
        #expect(made.status == 0)
        #expect(try made.json()["documents"]?.intValue == 3)
        #expect(command.isFolder("saved") == flags.isEmpty)
        let again = try command.tansu(["backup", "people.tansu", "saved"] + flags, input: [])
        #expect(again.status == 73 && again.error.contains("[EXISTS, saved]"))
        let restored = try command.tansu("restore", "saved", "new.tansu")
        #expect(restored.status == 0 && restored.output == "3 documents restored to new.tansu\n")
        let documents = try command.tansu("find", "people.tansu", "people").documents()
        #expect(try command.tansu("find", "new.tansu", "people").documents() == documents)
        #expect(try command.tansu("restore", "saved", "new.tansu").status == 73)
        #expect(try command.tansu("restore", "none", "other.tansu").status == 66)
        #expect(!command.exists("other.tansu"))
        #expect(try command.tansu("backup", "none.tansu", "b").status == 66)
    }

    @Test("a dump is loaded from a file and from a pipe")
    func dump() throws {
        let command = try Command.withPeople()
        try command.succeed("index", "create", "people.tansu", "people", "name", "--name", "n")
        let documents = try command.tansu("find", "people.tansu", "people").documents()
        let pipe = try command.shell("tansu dump people.tansu | tansu load piped.tansu --json")
        #expect(pipe.status == 0)
        #expect(try pipe.json()["documents"]?.intValue == 3)
        #expect(try command.tansu("dump", "people.tansu", "--output", "d").status == 0)
        #expect(try command.tansu("dump", "people.tansu", "--output", "d").status == 73)
        #expect(try command.tansu("load", "filed.tansu", "d").status == 0)
        for name in ["piped.tansu", "filed.tansu"] {
            #expect(try command.tansu("find", name, "people").documents() == documents)
            #expect(try command.tansu("index", "list", name, "people").output.contains("n "))
        }
        #expect(try command.tansu("load", "filed.tansu", "d").status == 65)
        #expect(try command.tansu("load", "filed.tansu", "d", "--mode", "skip").status == 0)
        #expect(try command.tansu("load", "filed.tansu", "none").status == 66)
        #expect(try command.tansu("load", "filed.tansu", "d", "--mode", "merge").status == 64)
        #expect(try command.tansu("dump", "people.tansu", "--collection", "none").status == 66)
    }

    @Test("with --json the numbers of a dump are on standard error when the dump is on standard output")
    func dumpAsJSON() throws {
        let command = try Command.withPeople()
        let result = try command.tansu("dump", "people.tansu", "--json")
        #expect(result.status == 0 && result.output.hasPrefix("{\"$dump\""))
        let numbers = try BSONDocument(extendedJSON: result.error)
        #expect(numbers["ok"] == true && numbers["documents"]?.intValue == 3)
    }

    @Test("a dump can select collections and documents, and omit indexes")
    func dumpOptions() throws {
        let command = try Command.withPeople()
        try command.succeed("index", "create", "people.tansu", "people", "name", "--name", "n")
        try command.succeed("save", "people.tansu", "other", "{\"_id\": 1}")
        func counts(_ options: String...) throws -> [Int?] {
            let file = "dump\(options.count)"
            let result = try command.tansu(["dump", "people.tansu", "--output", file, "--json"] + options, input: [])
            let report = try result.json()
            return ["collections", "documents", "indexes"].map { report[$0]?.intValue }
        }
        #expect(try counts() == [2, 4, 1])
        #expect(try counts("--no-indexes") == [2, 4, 0])
        #expect(try counts("--collection", "people") == [1, 3, 1])
        #expect(try counts("--collection", "people", "--query", "{\"age\": {\"$gt\": 30}}") == [1, 2, 1])
        let again = try command.tansu("dump", "people.tansu", "--output", "dump0")
        #expect(again.status == 73)
        #expect(
            again.error == "tansu: \"dump0\" exists already; choose another name, nothing was changed [EXISTS, dump0]\n"
        )
    }

    @Test("--atomic loads everything or nothing")
    func atomic() throws {
        let command = try Command()
        try command.write("a.ndjson", (0..<3000).map { "{\"_id\": \($0)}\n" }.joined() + "{\n")
        let load = ["load", "a.tansu", "a.ndjson", "--collection", "a"]
        #expect(try command.tansu(load + ["--atomic"], input: []).status == 65)
        #expect(!command.exists("a.tansu"))
        #expect(try command.tansu(load, input: []).status == 65)
        #expect(try command.tansu("count", "a.tansu", "a").output != "0\n")
    }

    @Test("plain lines need a collection; the error for an invalid line has its number")
    func plain() throws {
        let command = try Command()
        try command.write("a.ndjson", "{\"_id\": 1}\n{\"_id\": }\n")
        let bad = try command.tansu("load", "a.tansu", "a.ndjson", "--collection", "a", "--atomic")
        #expect(bad.status == 65 && bad.error.contains("INVALID_JSON"))
        #expect(bad.error.lowercased().contains("line 2"))
        #expect(try command.tansu("load", "a.tansu", "a.ndjson").status == 65)
    }

    @Test("a dump is not loaded into the collection of --collection", arguments: [["people.dump"], []])
    func dumpIntoCollection(file: [String]) throws {
        let command = try Command.withPeople()
        try command.succeed("dump", "people.tansu", "--output", "people.dump")
        for options in [[], ["--compression", "lz4"]] {
            let words = ["load", "people.tansu"] + file + ["--collection", "zz"] + options
            let result = try command.tansu(words, input: Array(command.text("people.dump").utf8))
            #expect(
                result.status == 64 && result.error.contains("is a dump, which names its collections"),
                "\(result.error)")
        }
        #expect(try !command.tansu("collections", "people.tansu").output.contains("zz"))
    }
}
