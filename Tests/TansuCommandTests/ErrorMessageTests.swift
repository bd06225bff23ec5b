import Foundation
import TansuBSON
import Testing

@testable import Tansu

@Suite("Error messages of the program")
struct ErrorMessageTests {
    @Test(
        "commands that read or change need a database and do not create one",
        arguments: [
            ["find", "absent", "c"], ["count", "absent", "c"], ["get", "absent", "c", "1"],
            ["remove", "absent", "c", "{}"], ["index", "list", "absent", "c"], ["collections", "absent"],
            ["stats", "absent"], ["explain", "absent", "c"], ["index", "create", "absent", "c", "a"],
        ])
    func noDatabase(words: [String]) throws {
        let command = try Command()
        let result = try command.tansu(words, input: [])
        #expect(result.status == 66)
        #expect(
            result.error
                == "tansu: Database \"absent\" does not exist; check the path, or create it with \"tansu import\" "
                + "or \"tansu save\" [NOT_FOUND, absent]\n")
        #expect(!command.exists("absent"))
    }

    @Test("the error for a missing collection lists the existing ones")
    func noCollection() throws {
        let command = try Command.withPeople()
        let result = try command.tansu("find", "people.tansu", "persons")
        #expect(result.status == 66)
        #expect(
            result.error
                == "tansu: Collection \"persons\" does not exist; the database has \"people\" "
                + "[NOT_FOUND, people.tansu]\n")
    }

    @Test("the error for invalid JSON has line and column")
    func badJSON() throws {
        let command = try Command.withPeople()
        let result = try command.tansu("find", "people.tansu", "people", "{age: 3}")
        #expect(result.status == 65)
        #expect(result.error.contains("INVALID_JSON"))
        #expect(result.error.contains("column 2"))
    }

    @Test("the error for an unknown operator or hint has its name")
    func badQuery() throws {
        let command = try Command.withPeople()
        let query = try command.tansu("find", "people.tansu", "people", "{\"age\": {\"$near\": 3}}")
        #expect(query.status == 65)
        #expect(query.error.contains("$near"))
        let hint = try command.tansu("count", "people.tansu", "people", "{}", "{\"$orderBy\": {\"a\": 1}}")
        #expect(hint.status == 65)
        #expect(hint.error.contains("$orderBy"))
    }

    @Test("with --json an error is an object on standard error, and standard output is empty")
    func json() throws {
        let command = try Command.withPeople()
        let result = try command.tansu("find", "people.tansu", "people", "{\"age\": {\"$near\": 3}}", "--json")
        #expect(result.status == 65)
        #expect(result.output.isEmpty)
        let object = try BSONDocument(extendedJSON: result.error)
        #expect(object["ok"] == .bool(false))
        #expect(object["error"]?.documentValue?["code"] == .string("INVALID_QUERY"))
    }

    @Test("a folder with other files, or a file, is not changed")
    func somethingElse() throws {
        let command = try Command()
        try FileManager.default.createDirectory(atPath: command.path("folder"), withIntermediateDirectories: true)
        try command.write("folder/letter.txt", "Dear Ann")
        try command.write("file", "Dear Bob")
        for name in ["folder", "file"] {
            let result = try command.tansu("save", name, "c", "{}")
            #expect(result.status == 73, "\(result.error)")
            #expect(try command.tansu("find", name, "c").status == 66)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: command.path("folder")) == ["letter.txt"])
        #expect(try String(contentsOfFile: command.path("file"), encoding: .utf8) == "Dear Bob")
    }

    @Test("a database cannot be created in a missing folder")
    func cannotCreate() throws {
        let command = try Command()
        let result = try command.tansu("save", "no/such/place", "c", "{}")
        #expect(result.status == 73)
    }

    @Test("a database that another process has open is locked, and the error names that process")
    func locked() throws {
        let command = try Command.withPeople()
        let database = try Database(path: command.path("people.tansu"))
        let result = try command.tansu("save", "people.tansu", "people", "{}", "--wait", "0.05")
        #expect(result.status == 75)
        let process =
            "tansu: Database \"people.tansu\" is open in process \(ProcessInfo.processInfo.processIdentifier) (\""
        #expect(result.error.hasPrefix(process))
        #expect(result.error.contains("\"); close it there, or wait longer with \"--wait\" [LOCKED, people.tansu]"))
        try database.close()
        #expect(try command.tansu("save", "people.tansu", "people", "{}").status == 0)
        #expect(try command.tansu("count", "people.tansu", "people", "--wait", "-1").status == 64)
    }

    @Test(
        "every command that needs the database for itself names the process that has it",
        arguments: [
            ["save", "people.tansu", "people", "{}"], ["import", "people.tansu", "file.json"],
            ["load", "people.tansu", "file.json"],
            ["update", "people.tansu", "people", "{}", "{\"$set\": {\"a\": 1}}"],
            ["remove", "people.tansu", "people", "{}", "--yes"], ["index", "create", "people.tansu", "people", "name"],
            ["index", "drop", "people.tansu", "people", "name_1"], ["compact", "people.tansu"],
            ["demo", "--path", "people.tansu"],
            ["collections", "create", "people.tansu", "new"], ["collections", "rename", "people.tansu", "people", "a"],
            ["collections", "drop", "people.tansu", "people", "--yes"],
        ])
    func lockedForEach(words: [String]) throws {
        let command = try Command.withPeople()
        try command.write("file.json", "{}\n")
        let database = try Database(path: command.path("people.tansu"))
        let result = try command.tansu(words + ["--wait", "0.01"], input: [])
        #expect(result.status == 75)
        #expect(result.error.contains("is open in process \(ProcessInfo.processInfo.processIdentifier) (\""))
        try database.close()
    }

    @Test("repairing and restoring a database that is open names the process", arguments: ["repair", "restore"])
    func lockedSource(word: String) throws {
        let command = try Command.withPeople()
        let database = try Database(path: command.path("people.tansu"))
        let result = try command.tansu(word, "people.tansu", "new.tansu")
        #expect(result.status == 75)
        #expect(result.error.contains("is open in process \(ProcessInfo.processInfo.processIdentifier) (\""))
        #expect(!FileManager.default.fileExists(atPath: command.path("new.tansu")))
        try database.close()
    }

    @Test("a command that writes waits until another process closes the database")
    func waiting() throws {
        let command = try Command.withPeople()
        let database = try Database(path: command.path("people.tansu"))
        let process = try command.start(["save", "people.tansu", "people", "{}", "--wait", "3600"])
        usleep(200_000)
        #expect(process.isRunning)
        try database.close()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }

    @Test("commands that only read share a database with other readers and with a writer", arguments: [false, true])
    func readers(writing: Bool) throws {
        let command = try Command.withPeople()
        let options = Database.Options(readOnly: !writing)
        let database = try Database(path: command.path("people.tansu"), options: options)
        if writing { try database.collection("late").save(["_id": 1]) }
        let commands = [
            ["find", "people.tansu", "people"], ["stats", "people.tansu"], ["explain", "people.tansu", "people"],
            ["dump", "people.tansu"], ["verify", "people.tansu"], ["collections", "people.tansu"],
            ["count", "people.tansu", "people"], ["distinct", "people.tansu", "people", "name"],
            ["backup", "people.tansu", "copy.tansu"],
        ]
        for words in commands {
            let result = try command.tansu(words, input: [])
            #expect(result.status == 0, "\(words): \(result.error)")
        }
        if writing {
            #expect(try command.tansu("count", "people.tansu", "late").output == "1\n")
            try database.collection("late").save(["_id": 2])
            #expect(try command.tansu("count", "people.tansu", "late").output == "2\n")
        }
        try database.close()
    }

    @Test(
        "a wrong command line shows the usage",
        arguments: [
            ["find"], ["find", "db"], ["fnd"], ["find", "db", "c", "--max", "-1"],
            ["find", "db", "c", "--table", "--canonical"], ["import", "db", "f", "--batch", "0"],
            ["dump", "db", "--query", "{}"], ["dump", "db", "--query", "{}", "--collection", "a", "--collection", "b"],
        ])
    func usage(words: [String]) throws {
        let result = try Command().tansu(words, input: [])
        #expect(result.status == 64)
        #expect(result.error.contains("Usage: tansu"))
    }

    @Test(
        "with --json a usage error is an object",
        arguments: [
            ["find", "--json"], ["find", "db", "c", "--table", "--json"], ["fnd", "db", "--json"],
            ["find", "db", "c", "--max", "-1", "--json"], ["find", "", "c", "--json"], ["--json"],
            ["xyzzy", "--json"], ["xyzzy", "db", "--json"], ["index", "xyzzy", "--json"],
            ["remove", "db", "c", "--json"], ["find", "db", "c", "{}", "{\"$max\": 1}", "--max", "2", "--json"],
        ])
    func usageAsJSON(words: [String]) throws {
        let command = try Command.withPeople()
        try command.succeed("save", "db", "c", "{}")
        let result = try command.tansu(words, input: [])
        #expect(result.status == 64)
        #expect(result.output.isEmpty)
        let object = try BSONDocument(extendedJSON: result.error)
        #expect(object["ok"] == false)
        #expect(object[path: "error.message"]?.stringValue?.isEmpty == false)
    }

    @Test(
        "an empty path is a usage error",
        arguments: [
            ["find", "", "c"], ["stats", ""], ["import", "", "f.ndjson"], ["import", "db", "", "--collection", "c"],
            ["load", "", "f"], ["load", "db", ""], ["backup", "db", ""], ["backup", "", "b"], ["restore", "", "b"],
            ["restore", "b", ""], ["repair", "", "b"], ["repair", "b", ""], ["dump", "db", "--output", ""],
            ["demo", "--path", ""], ["save", "", "c", "{}"],
        ])
    func emptyPath(words: [String]) throws {
        let result = try Command().tansu(words, input: [])
        #expect(result.status == 64)
        #expect(result.error.contains("is empty") && !result.error.contains("report"))
    }

    @Test(
        "an unknown subcommand or option has a suggestion",
        arguments: [
            (["fnd", "db", "c"], "Unknown subcommand \"fnd\"; did you mean \"tansu find\"?"),
            (["udpate", "db"], "did you mean \"tansu update\"?"), (["insert", "db"], "did you mean \"tansu save\"?"),
            (["index", "creat", "db", "c", "a"], "did you mean \"tansu index create\"?"),
            (["collections", "dropp", "db", "c"], "did you mean \"tansu collections drop\"?"),
            (["find", "db", "c", "--tabel"], "Did you mean '--table'?"),
            (["remove", "db", "c", "{}", "--limits", "1"], "Did you mean '--limit'?"),
        ])
    func suggestion(words: [String], text: String) throws {
        let result = try Command().tansu(words, input: [])
        #expect(result.status == 64)
        #expect(result.error.contains(text))
        #expect(result.error.contains("Usage: tansu"))
    }

    @Test(
        "a word that begins with a minus and was taken for an option is named, and how it is written",
        arguments: [
            (["save", "db", "c", "-5"], "write \"-- -5\""), (["import", "db", "-x.json"], "write \"-- -x.json\""),
            (["find", "db", "c", "--limit", "-1"], "write \"--limit=-1\""),
            (["search", "db", "c", "-word"], "\"-word\" was taken for an option"),
        ])
    func minus(words: [String], text: String) throws {
        let result = try Command().tansu(words, input: [])
        #expect(result.status == 64 && result.error.contains(text), "\(result.error)")
        #expect(try !Command().tansu("find", "db", "--sort", "-age").error.contains("taken for an option"))
    }

    @Test("the error for a word that resembles no subcommand names it", arguments: [[], ["--json"]])
    func noSuggestion(options: [String]) throws {
        let error = try Command().tansu(["xyzzy"] + options, input: []).error
        let quote = options.isEmpty ? "\"" : "\\\""
        #expect(error.contains("Unknown subcommand \(quote)xyzzy\(quote)"), "\(error)")
        #expect(error.contains("\(quote)tansu --help\(quote) lists them") && !error.contains("did you mean"))
        #expect(try !Command().tansu("collections", "absent", "--bogus").error.contains("Unknown subcommand"))
    }

    @Test(
        "a limit of 0, a negative one and one beyond all numbers are errors that change nothing",
        arguments: [("--limit", "0"), ("--max", "0"), ("--limit", "-1"), ("--limit", "99999999999999999999")])
    func limit(option: String, number: String) throws {
        let command = try Command.withPeople()
        for words in [
            ["remove", "people.tansu", "people", "{}"], ["find", "people.tansu", "people"],
            ["update", "people.tansu", "people", "{}", "{\"$set\": {\"a\": 1}}"],
            ["distinct", "people.tansu", "people", "name"],
            ["aggregate", "people.tansu", "people", "{\"by\": \"age\"}"],
        ] {
            let result = try command.tansu(words + [option, number], input: [])
            #expect(result.status == 64 && result.output.isEmpty, "\(words)")
        }
        #expect(try command.tansu("count", "people.tansu", "people", "{\"a\": null}").output == "3\n")
    }

    @Test(
        "a limit and a number to skip may be as large as numbers are", arguments: ["9223372036854775807", "4294967296"])
    func hugeLimit(number: String) throws {
        let command = try Command.withPeople()
        #expect(try command.tansu("count", "people.tansu", "people", "--skip", "1", "--limit", number).output == "2\n")
        #expect(try command.tansu("find", "people.tansu", "people", "--skip", number, "--limit", number).status == 1)
    }

    @Test("no message names a function of C, nor an option of another interface")
    func wordsOfTheCommandLine() throws {
        let command = try Command.withPeople()
        try command.succeed("index", "create", "people.tansu", "people", "name")
        for words in [
            ["index", "drop", "people.tansu", "people", "absent"],
            ["find", "people.tansu", "people", "{}", "{\"$index\": \"absent\"}"],
            ["load", "people.tansu", "people.ndjson"],
            ["load", "people.tansu", "people.ndjson", "--collection", "people"],
            ["dump", "people.tansu", "--query", "{}"], ["save", "people.tansu", "people", "{\"_id\": 7}", "--insert"],
            ["import", "people.tansu", "people.ndjson", "--mode", "insert"],
            ["index", "create", "people.tansu", "people", "age", "--max-entries", "0"],
            ["collections", "rename", "people.tansu", "people", "$x"],
        ] {
            let result = try command.tansu(words, input: [])
            #expect(result.status != 0)
            for word in ["tansu_", "options.", "()", "use save", "TANSU_"] {
                #expect(!result.error.contains(word), "\(result.error)")
            }
        }
    }

    @Test("a word that is no UTF-8 is refused")
    func argumentBytes() throws {
        let command = try Command.withPeople()
        for line in [
            "tansu find people.tansu \"$(printf 'p\\377')\"", "tansu save \"$(printf 'd\\303')\" c '{}'",
            "tansu save people.tansu people \"{\\\"_id\\\": \\\"$(printf '\\355\\240\\200')\\\"}\"",
        ] {
            let result = try command.shell(line)
            #expect(result.status == 64 && result.error.contains("is not valid UTF-8"), "\(line): \(result.error)")
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: command.folder.path)
        #expect(!names.contains { $0.unicodeScalars.contains("\u{FFFD}") })
        try command.succeed("save", "people.tansu", "people", "{\"_id\": \"\u{FFFD}\"}")
    }

    @Test("messages have the words of the command line")
    func words() throws {
        let command = try Command.withPeople()
        try command.write("bad.ndjson", "{\"_id\": 1}\n{\"a\":}\n")
        let expected: [(words: [String], status: Int32, text: String)] = [
            (["load", "people.tansu", "people.ndjson"], 65, "name it with \"--collection\""),
            (["load", "people.tansu", "people.ndjson", "--collection", ""], 64, "The name of the collection is empty"),
            (
                ["import", "people.tansu", "people.ndjson", "--collection", ""], 64,
                "The name of the collection is empty"
            ),
            (["load", "new", "bad.ndjson", "--collection", "c"], 65, "Line 2, column 6: "),
            (
                ["index", "create", "people.tansu", "people", "a", "--max-entries", "0"], 64,
                "\"--max-entries\" must be"
            ),
            (["index", "create", "people.tansu", "people", "a", "--name", ""], 64, "The name of the index is empty"),
            (["index", "create", "people.tansu", "people", "**", "--sparse"], 65, "\"--sparse\""),
            (
                ["update", "people.tansu", "people", "{}", "{}", "--replace"], 65,
                "\"--replace\" can replace only one; give \"--limit 1\""
            ),
            (["dump", "people.tansu", "--collection", "nox"], 66, "the database has \"people\""),
            (["dump", "people.tansu", "--output", "absent/d"], 74, "could not be created: No such file or directory"),
            (["backup", "people.tansu", "absent/b"], 74, "[IO, absent/b]"),
            (["help", "bogus"], 64, "Unknown subcommand \"bogus\""),
            (["help", "index", "creat"], 64, "did you mean \"tansu index create\"?"),
            (["find", "people.tansu", "people", "--sort", "age DSC"], 64, "did you mean \"desc\"?"),
            (["index", "create", "people.tansu", "people", "age ascd"], 64, "did you mean \"asc\"?"),
            (["find", "people.tansu", "people", "--json=1"], 64, "{\"ok\": false"),
            (["find", "people.tansu", "people", "--jsonn"], 64, "{\"ok\": false"),
        ]
        for (words, status, text) in expected {
            let result = try command.tansu(words, input: [])
            #expect(
                result.status == status && result.error.contains(text), "\(words): \(result.status) \(result.error)")
            #expect(result.output.isEmpty && !result.error.contains("tansu-part"), "\(words)")
        }
        try command.succeed("help", "index", "create")
        try command.succeed("find", "people.tansu", "people", "--sort", "first name")
    }

    @Test("a link to nothing is in the place of a new file or folder")
    func danglingLink() throws {
        let command = try Command.withPeople()
        try command.succeed("backup", "people.tansu", "saved")
        _ = try command.shell("ln -s nowhere to")
        for line in [
            "backup people.tansu to", "backup people.tansu to --file", "dump people.tansu -o to", "restore saved to",
            "repair people.tansu to",
        ] {
            let result = try command.shell("tansu \(line)")
            #expect(result.status == 73 && result.error.contains("[EXISTS, to]"), "\(line): \(result.error)")
        }
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: command.path("to")) == "nowhere")
    }

    @Test("nothing is written into the folder of a database")
    func insideOfDatabase() throws {
        let command = try Command.withPeople()
        try command.succeed("backup", "people.tansu", "saved")
        for line in [
            "backup people.tansu people.tansu/b", "backup people.tansu ./people.tansu/../people.tansu/log/b --file",
            "backup people.tansu saved/b", "dump people.tansu --output people.tansu/d",
            "restore saved people.tansu/r", "restore saved saved/r", "repair people.tansu people.tansu/r",
            "save people.tansu/c c '{}'", "ln -s people.tansu link; tansu backup people.tansu link/b",
        ] {
            let result = try command.shell("tansu \(line)".replacing("tansu ln", with: "ln"))
            #expect(result.status == 73, "\(line): \(result.error)")
            #expect(result.error.contains("is in the folder of the database"))
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: command.path("people.tansu"))
        #expect(Set(names).isSubset(of: ["KEY", "LOCK", "MANIFEST", "index", "log", "readers"]))
    }

    @Test("the error for a file of another kind says what it is and what to do")
    func wrongKind() throws {
        let command = try Command.withPeople()
        try command.succeed("backup", "people.tansu", "saved", "--file")
        try command.succeed("dump", "people.tansu", "--output", "dumped")
        try command.write("lite", "SQLite format 3\u{0}\u{10}")
        try command.write("towns", "name,zip\nYork,1\n")
        let expected = [
            ("saved", "is a backup", "\"tansu restore saved"), ("lite", "is a SQLite database", "--sqlite lite"),
            ("dumped", "is a dump", "\"tansu load DATABASE dumped"), ("towns", "is a text file", "--format csv"),
        ]
        for (file, kind, remedy) in expected {
            for words in [["find", file, "c"], ["save", file, "c", "{}"], ["import", "new", file]] {
                let result = try command.tansu(words, input: [])
                #expect([65, 66, 73].contains(result.status), "\(words)")
                #expect(result.error.contains(kind) && result.error.contains(remedy), "\(words): \(result.error)")
            }
        }
        let others = [
            ["load", "new", "saved"], ["load", "new", "lite"], ["restore", "dumped", "new"],
            ["restore", "lite", "new"],
            ["find", "people.ndjson", "c"], ["import", "new", "people.tansu"],
        ]
        for words in others {
            let result = try command.tansu(words, input: [])
            #expect([65, 66].contains(result.status), "\(words)")
            #expect(result.error.contains(", not a ") && result.error.contains("\"tansu "), "\(result.error)")
        }
        #expect(!command.exists("new"))
    }

    @Test(
        "a folder without write permission is the error of a read-only file system",
        .enabled(if: getuid() == 0 && FileManager.default.isExecutableFile(atPath: "/usr/bin/setpriv")))
    func noPermission() throws {
        let command = try Command.withPeople()
        let user = "setpriv --reuid 65534 --regid 65534 --clear-groups"
        for line in [
            "save people.tansu people '{}'", "save new c '{}'", "backup people.tansu b", "restore people.tansu r",
        ] {
            let result = try command.shell("chmod 755 .; \(user) tansu \(line)")
            #expect(result.status == 77, "\(line): \(result.error)")
            #expect(result.error.contains("[READ_ONLY"), "\(line): \(result.error)")
        }
        #expect(try command.shell("\(user) tansu count people.tansu people").output == "3\n")
    }

    @Test("a failed write of the output is an error", .enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
    func fullOutput() throws {
        let command = try Command.withPeople()
        let result = try command.shell("tansu find people.tansu people > /dev/full")
        #expect(result.status == 74)
        #expect(result.error.hasPrefix("tansu: Cannot write the output: "))
    }
}
