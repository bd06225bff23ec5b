import Foundation
import TansuBSON
import Testing

@Suite("Commands on a full disk")
struct FullDiskTests {
    /// Lets every checkpoint fail, as on a full disk: commits go to the log, which has room.
    private func failCheckpoints(_ command: Command) throws {
        let folder = command.path("people.tansu/MANIFEST.new")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    }

    @Test(
        "a command whose change is committed succeeds, with a warning that its checkpoint failed",
        arguments: [
            (["update", "people.tansu", "people", "{\"_id\": 7}", "{\"$inc\": {\"age\": 1}}"], "1 document matched"),
            (["save", "people.tansu", "people", "{\"_id\": 8}"], "8"),
            (["remove", "people.tansu", "people", "--id", "7"], "1 document removed"),
            (["import", "people.tansu", "people.ndjson"], "3 documents imported"),
            (["import", "people.tansu", "people.ndjson", "--drop"], "3 documents imported"),
            (["load", "people.tansu", "people.ndjson", "--collection", "new"], "3 documents loaded"),
            (["index", "create", "people.tansu", "people", "age"], "Index age_1 is ready"),
            (["index", "drop", "people.tansu", "people", "name_1"], "Index name_1 dropped"),
            (["collections", "create", "people.tansu", "new"], "Collection new created"),
            (["collections", "rename", "people.tansu", "people", "new"], "Collection people renamed"),
            (["collections", "drop", "people.tansu", "people"], "Collection people dropped"),
        ])
    func committed(words: [String], text: String) throws {
        let command = try Command.withPeople()
        try command.succeed("index", "create", "people.tansu", "people", "name")
        try failCheckpoints(command)
        let result = try command.tansu(words, input: [])
        #expect(result.status == 0, "\(result.error)")
        #expect(result.output.contains(text))
        #expect(
            result.error.hasPrefix("tansu: Warning: The changes are committed, but the checkpoint at the end failed"))
        #expect(result.error.hasSuffix("[IO, people.tansu]\n"))
        if words[0] == "update" {
            #expect(try command.tansu(words + ["--json"], input: []).json()["ok"] == true)
            #expect(try command.tansu("get", "people.tansu", "people", "7").documents()[0]["age"] == 35)
        }
    }

    @Test(
        "an error after a commit says what is committed",
        .enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
    func outputAfterCommit() throws {
        let command = try Command.withPeople()
        let update = "tansu update people.tansu people '{\"_id\": 7}' '{\"$inc\": {\"age\": 1}}'"
        let result = try command.shell("\(update) > /dev/full")
        #expect(result.status == 74)
        #expect(
            result.error
                == "tansu: Cannot write the output: No space left on device; the changes are committed [FULL]\n")
        let error = try BSONDocument(extendedJSON: command.shell("\(update) --json > /dev/full").error)
        #expect(error[path: "error.code"] == "FULL" && error[path: "error.remedy"] == "the changes are committed")
        #expect(try command.tansu("get", "people.tansu", "people", "7").documents()[0]["age"] == 35)
        // Nothing is committed by a command that reads, nor when the new database is removed again.
        #expect(try command.shell("tansu get people.tansu people 7 > /dev/full").error.hasSuffix("device [FULL]\n"))
        #expect(try command.shell("tansu collections create new c > /dev/full").error.hasSuffix("device [FULL]\n"))
        #expect(!command.exists("new"))
    }

    @Test(
        "what is complete is said to be so where the output cannot be written",
        .enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
    func outputAfterCopy() throws {
        let command = try Command.withPeople()
        for line in ["backup people.tansu to", "dump people.tansu -o to", "restore saved to", "repair people.tansu to"]
        {
            try command.succeed("backup", "people.tansu", "saved")
            let result = try command.shell("tansu \(line) > /dev/full")
            #expect(result.status == 74)
            #expect(result.error.hasSuffix("; \"to\" is complete [FULL]\n"), "\(line): \(result.error)")
            #expect(command.exists("to"))
            _ = try command.shell("rm -r to saved")
        }
        #expect(try command.shell("tansu --help > /dev/full").status == 74)
        #expect(try command.shell("tansu find --help > /dev/full").error.contains("Cannot write the output"))
    }

    @Test("a file that cannot grow is a full disk, and nothing incomplete keeps its name")
    func fileSizeLimit() throws {
        let command = try Command()
        try command.write("c.ndjson", (1...3000).map { "{\"_id\": \($0)}\n" }.joined())
        try command.succeed("import", "db", "c.ndjson")
        for line in [
            "dump db --output to", "dump db > out", "find db c > out", "backup db to", "backup db to --file",
            "restore db to", "repair db to", "save db c '{\"_id\": 0}'",
        ] {
            let result = try command.shell("ulimit -S -f 1; tansu \(line)")
            #expect(result.status == 74, "\(line): \(result.error)")
            #expect(result.error.contains("[FULL"), "\(line): \(result.error)")
            #expect(!command.exists("to") && !command.exists("to.tansu-part"), "\(line)")
        }
        #expect(try command.tansu("count", "db", "c").output == "3000\n")
    }

    @Test(
        "a load that fails says what is kept",
        arguments: [(false, "what was committed before is kept"), (true, "nothing was changed")])
    func load(atomic: Bool, text: String) throws {
        let command = try Command()
        let words = ["load", "db", "--collection", "c"] + (atomic ? ["--atomic"] : [])
        let result = try command.tansu(words, input: Array("{\"_id\": 1}\n{\"_id\": }\n".utf8))
        #expect(result.status == 65 && result.error.contains("; \(text) [INVALID_JSON"), "\(result.error)")
        #expect(try command.tansu("count", "db", "c").status == (atomic ? 66 : 0))
    }
}
