import Foundation
import TansuBSON
import Testing

@testable import TansuCommand

@Suite("tansu shell in scripts")
struct ShellTests {
    /// Runs statements on the fixture.
    private func run(_ script: String, _ words: String...) throws -> CommandResult {
        let command = try Command.withPeople()
        return try command.tansu(["shell", "people.tansu"] + words, input: Array(script.utf8))
    }

    @Test("statements and their results")
    func statements() throws {
        let result = try run(
            """
            # A comment
            find people {age: {$gt: 30}} sort {name: 1} fields name,age
            count people; count people {age: 25}
            distinct people pets.species
            get people 7
            get people nobody
            aggregate people [{$group: {_id: null, sum: {$sum: '$age'}}}]
            aggregate people {fields: {n: {$count: true}}}
            save people {_id: 'dan', at: ISODate('2020-01-01')}
            update people {_id: 'dan'} {
              $set: {age: 3}
            }
            remove people {_id: 'dan'}
            index people name,-age
            dropindex people name_1_age_-1
            create notes
            rename notes letters
            drop letters
            {op: 'count', collection: 'people'}
            """)
        #expect(result.error == "")
        #expect(
            result.output == """
                {"_id":"ann","name":"Ann","age":41}
                {"_id":7,"name":"Cem","age":33}
                3
                1
                "cat"
                "dog"
                {"_id":7,"name":"Cem","age":33,"pets":[]}
                null
                {"_id":null,"sum":99}
                {"n":3}
                1 document saved: "dan"
                1 document matched, 1 modified
                1 document removed
                Index name_1_age_-1 is ready
                Index name_1_age_-1 dropped
                Collection notes is ready
                Collection notes renamed to letters
                Collection letters dropped
                {"ok":true,"count":3}

                """)
    }

    @Test("modes, variables, the current collection and other commands")
    func commands() throws {
        let result = try run(
            """
            .use people
            .set limits {$gte: 33}
            .set
            .mode table
            find {age: $$limits} fields name,age
            .mode csv
            save {_id: 1, text: 'a "b", c', n: null}
            find {} sort name fields name,text limit 2
            .mode json
            .collections
            .indexes
            .explain on
            count {_id: 1}
            .explain off
            .quit
            no statement
            """)
        #expect(result.error == "")
        #expect(result.status == 0)
        let lines = result.lines
        #expect(
            Array(lines.prefix(9)) == [
                "$$limits = {\"$gte\":33}", "_id  name  age", "───  ────  ───", "ann  Ann    41", "  7  Cem    33",
                "1 document saved: 1", "_id,text,name", "1,\"a \"\"b\"\", c\",", "ann,,Ann",
            ])
        #expect(lines[9] == #"{"name":"people","documents":4,"options":{"local":false}}"#)
        #expect(lines[10].hasPrefix("{\"plan\":{"))
        #expect(lines[11...] == ["1"])
    }

    @Test("a transaction with savepoints")
    func transactions() throws {
        let result = try run(
            """
            .begin
            remove people {age: 25}
            .savepoint
            remove people {}
            count people
            .rollback
            count people
            .savepoint
            save people {_id: 9}
            .release
            find people {_id: 9}
            .commit
            .begin
            drop people
            .rollback
            count people
            """)
        #expect(result.error == "")
        let expected = ["1 document removed", "2 documents removed", "0", "2", "1 document saved: 9", "{\"_id\":9}"]
        #expect(result.lines == expected + ["Collection people dropped", "3"])
        for wrong in [".commit", ".rollback", ".savepoint", ".release", ".begin\n.begin", ".begin\n.open x"] {
            #expect(try run(wrong).error.contains("INVALID_STATE"), "\(wrong)")
        }
        #expect(try run(".begin\n{op: 'compact'}").error.contains("\".commit\" or \".rollback\" first [BUSY]"))
        // The end of the script rolls back.
        let command = try Command.withPeople()
        let left = try command.tansu("shell", "people.tansu", input: ".begin\nremove people {}\n")
        #expect(left.status == 1)
        #expect(left.error.contains("[NOT_COMMITTED]"))
        #expect(try command.tansu("count", "people.tansu", "people").output == "3\n")
    }

    @Test("a script ends with its first error, or goes on with --keep-going")
    func errors() throws {
        let script = "count people\ncount nobody\nfind people {a: }\ncount people\n"
        let stopped = try run(script)
        #expect(stopped.status == 66)
        #expect(stopped.output == "3\n")
        let all = try run(script, "--keep-going")
        #expect(all.status == 66)
        #expect(all.output == "3\n3\n")
        #expect(all.error.contains("\n  find people {a: }\n                  ^\n"))
        let json = try run("find people {a: }", "--json")
        #expect(json.error.hasPrefix("{\"ok\": false"))
        let described = try run(".stats\n.schema people", "--json").documents()
        #expect(described.count == 2)
        #expect(described.last?["documents"] == 3)
        let missing = try Command().tansu("shell", "none.tansu", "-c", "count c")
        #expect(missing.status == 66)
    }

    @Test("statements of the command line and of files, results in files, and other databases")
    func files() throws {
        let command = try Command.withPeople()
        try command.write("a.txt", ".output out.txt\nfind people {age: 25} fields name\n.output\n.read b.txt\n")
        try command.write("b.txt", "count people\n.open new.tansu\n")
        try command.succeed("shell", "new.tansu", "--create", "-c", "save c {_id: 1}")
        let result = try command.tansu("shell", "people.tansu", "-f", "a.txt")
        #expect(result.error == "")
        #expect(result.output == "3\n")
        #expect(try command.text("out.txt") == "{\"_id\":\"bob\",\"name\":\"Bob\"}\n")
        let line = try command.tansu("shell", "people.tansu", "-c", ".open new.tansu", "-c", "find c")
        #expect(line.output == "{\"_id\":1}\n")
        try command.write("loop.txt", ".read loop.txt\n")
        #expect(try command.tansu("shell", "people.tansu", "-f", "loop.txt").status == 65)
        let inside = try command.tansu("shell", "people.tansu", "-c", ".output people.tansu/x")
        #expect(inside.status == 73)
        #expect(try command.tansu("shell", "people.tansu", "-f", "a.txt", "-c", "count people").status == 64)
    }

    @Test("--readonly reads what another process writes meanwhile, and changes nothing")
    func reader() throws {
        let command = try Command.withPeople()
        let (input, output) = (Pipe(), Pipe())
        let process = Process()
        process.executableURL = Command.products.appendingPathComponent("tansu")
        process.arguments = ["shell", command.path("people.tansu"), "--readonly", "--keep-going"]
        (process.standardInput, process.standardOutput, process.standardError) = (input, output, Pipe())
        try process.run()
        let talk = { (line: String) throws -> String in
            try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
            return String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        }
        #expect(try talk("count people") == "3\n")
        try command.succeed("save", "people.tansu", "people", "{}")
        #expect(try talk("remove people {}\ncount people") == "4\n")
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
        #expect(process.terminationStatus == CommandExitCode.noPermission.rawValue)
    }

    @Test("what the library keeps is not written")
    func reserved() throws {
        #expect(try run("save tansu.x {}").error.contains("INVALID_ARGUMENT"))
        #expect(try run("save _users {_id: 1, password: 5}").error.contains("CLEAR_PASSWORD"))
        #expect(try run("create q {changeTracking: 'tansu.accounts'}").error.contains("INVALID_ARGUMENT"))
    }

    @Test("errors name the script and the line in it")
    func places() throws {
        let command = try Command.withPeople()
        try command.write("a.txt", "count people\n\nfind people {\n  a: }\n")
        let typing = try command.tansu("shell", "people.tansu", "-f", "a.txt")
        #expect(typing.error.hasPrefix("tansu: a.txt, line 3: Expected a value"))
        #expect(typing.error.contains("line 4, column 6]"))
        try command.write("b.txt", "\u{FEFF}count people\n.read a.txt\n")
        #expect(try command.tansu("shell", "people.tansu", "-f", "b.txt").error.hasPrefix("tansu: a.txt, line 3: "))
        let missing = try command.tansu("shell", "people.tansu", "--json", input: "\u{FEFF}count people\ncount x\n")
        #expect(missing.output == "3\n")
        let error = try BSONDocument(extendedJSON: missing.error)["error"]?.documentValue
        #expect(error?["place"] == "standard input, line 2")
        let bytes = try command.tansu(["shell", "people.tansu"], input: [0x0A, 0xFF, 0x0A])
        #expect(bytes.error.hasPrefix("tansu: standard input, line 2: The line is not valid UTF-8"))
    }

    @Test("Ctrl-C ends a script that waits for its next line")
    func interruption() throws {
        let command = try Command.withPeople()
        let input = Pipe()
        let process = try command.start(["shell", "people.tansu"], input: input)
        try input.fileHandleForWriting.write(contentsOf: Data("count people\n".utf8))
        while try command.text("output").isEmpty { usleep(1000) }
        kill(process.processIdentifier, SIGINT)
        process.waitUntilExit()
        #expect(process.terminationReason == .exit)
        #expect(process.terminationStatus == 130)
    }

    @Test("results of many batches are complete, in and outside of tables")
    func manyDocuments() throws {
        let command = try Command()
        try command.write(
            "many.ndjson",
            (0..<5000).map { "{\"_id\": \($0), \"t\": \"\(String(repeating: "x", count: $0 % 700))\"}\n" }.joined())
        try command.succeed("import", "m.tansu", "many.ndjson", "--collection", "c")
        let ids = try command.tansu(
            "shell", "m.tansu", "-c", "find c fields _id", "-c", ".mode csv", "-c", "find c fields _id")
        #expect(ids.lines == (0..<5000).map { "{\"_id\":\($0)}" } + ["_id"] + (0..<5000).map(String.init))
    }

    @Test("pretty JSON has on a line what fits there")
    func pretty() {
        let value: BSONValue = ["_id": 1, "a": ["b": [1, 2, ["c": "a longer text"]]], "d": [:], "e": []]
        var lines: [String] = []
        PrettyJSON.add(value, before: "", after: "", indent: 0, width: 30, to: &lines)
        #expect(
            lines == [
                "{", "  \"_id\": 1,", "  \"a\": {", "    \"b\": [", "      1,", "      2,",
                "      {\"c\":\"a longer text\"}", "    ]", "  },", "  \"d\": {},", "  \"e\": []", "}",
            ])
        lines = []
        PrettyJSON.add(value, before: "", after: "", indent: 0, width: 100, to: &lines)
        #expect(lines == [value.extendedJSON()])
    }
}
