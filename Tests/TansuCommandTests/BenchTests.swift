import Foundation
import TansuBSON
import Testing

@testable import TansuCommand

@Suite("tansu bench and tansu index advise")
struct BenchTests {
    @Test("measurements have names, rates and floors, and nothing is left behind")
    func bench() throws {
        let command = try Command()
        let result = try command.tansu("bench", ".", "--seconds", "0.001", "--json").json()
        let results = result["results"]?.arrayValue?.compactMap(\.documentValue) ?? []
        #expect(results.count == 9)
        #expect(results.allSatisfy { ($0["perSecond"]?.doubleValue ?? 0) > 0 && ($0["count"]?.intValue ?? 0) > 0 })
        let names = results.compactMap { $0["name"]?.stringValue }
        #expect(results.compactMap { $0["floor"]?.stringValue }.allSatisfy { floor in names.contains { $0 == floor } })
        #expect(try FileManager.default.contentsOfDirectory(atPath: command.folder.path).isEmpty)
        #expect(try command.tansu("bench", "nowhere").status == 73)
        #expect(try command.tansu("bench", "--seconds", "0").status == 64)
    }

    @Test("the queries of a file get the indexes that would have served them, each once")
    func advice() throws {
        let command = try Command()
        let documents = (0..<500).map { "{\"_id\": \($0), \"a\": \($0 % 50), \"b\": \($0 % 7)}\n" }
        try command.write("d.ndjson", documents.joined())
        try command.succeed("import", "d.tansu", "d.ndjson", "--collection", "c")
        try command.write(
            "queries.txt",
            """
            find c {a: 5}
            find c {a: 5} sort b
            {"op": "count", "collection": "c", "query": {"b": 1}}
            remove c {a: 3, b: 2}
            find c {_id: 1}
            save c {}
            aggregate c [{$match: {a: 5}}, {$out: 'x'}]
            nonsense
            """)
        let result = try command.tansu("index", "advise", "d.tansu", "-f", "queries.txt", "--json")
        #expect(result.status == 0)
        #expect(result.error.contains("line 8: \"nonsense\" is no statement"))
        let json = try result.json()
        #expect(json["queries"] == 5 && json["served"] == 1 && json["skipped"] == 3)
        let keys = json["indexes"]?.arrayValue?.compactMap { $0.documentValue?["keys"]?.documentValue?.json() }
        #expect(keys?.sorted() == ["{\"a\":1,\"b\":1}", "{\"b\":1}"])
        // Nothing was changed by the queries.
        #expect(try command.tansu("count", "d.tansu", "c").output == "500\n")
        #expect(try command.tansu("collections", "d.tansu").output.contains("x") == false)
        // With the indexes there is nothing left to suggest.
        let text = try command.tansu("index", "advise", "d.tansu", "-f", "queries.txt")
        for line in text.lines where line.contains("index create") {
            try command.succeed(
                "index", "create", "d.tansu", "c", line.split(separator: " ").last.map(String.init) ?? "")
        }
        #expect(try command.tansu("index", "advise", "d.tansu", "-f", "queries.txt").status == 1)
        #expect(try command.tansu("index", "advise", "d.tansu", "-f", "none.txt").status == 66)
    }

    @Test("scripts of the shell are read as the shell reads them, and printed commands work")
    func scripts() throws {
        let command = try Command.withPeople()
        let script = """
            \u{FEFF}# a comment
            .use people
            count {'-x': 1}; find {
              'a b': 1}
            find {'': 5}
            find {'\\u001b[31m': 1}
            .timer on
            """
        let result = try command.tansu("index", "advise", "people.tansu", input: script)
        #expect(result.error == "")
        #expect(result.lines[0] == "4 queries, 0 served by an index, 1 line skipped")
        let commands = result.lines.filter { $0.contains(" index create ") }
        #expect(commands.count == 3)
        for line in commands {
            #expect(try command.shell("cd '\(command.folder.path)' && \(line)").status == 0, "\(line)")
        }
        let wrong = try command.tansu(["index", "advise", "people.tansu"], input: [0x0A, 0xFF, 0x0A, 0x78])
        #expect(wrong.error == "tansu: line 2: The line is not valid UTF-8\ntansu: line 3: \"x\" is no statement\n")
    }

    @Test("a printed command has the options of the key")
    func keys() throws {
        let key = try KeyOptions.parse(["--key-file", "my key"])
        let command = OpenDatabase.indexCommand("d", "c", keys: ["a": 1], key: key)
        #expect(command.hasSuffix(" index create d c a --key-file 'my key'"))
    }

    @Test("an end of the terminal leaves nothing behind")
    func hangUp() throws {
        let command = try Command()
        let process = try command.start(["bench", ".", "--seconds", "60"])
        while try FileManager.default.contentsOfDirectory(atPath: command.folder.path).count < 3 { usleep(1000) }
        kill(process.processIdentifier, SIGHUP)
        process.waitUntilExit()
        #expect(process.terminationStatus == 130)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: command.folder.path).sorted() == ["error", "output"])
    }

    @Test("an index that is the beginning of another, in either direction, is no proposal of its own")
    func prefixes() throws {
        var advice = IndexAdvice()
        let suggestions: [BSONDocument] = [
            ["a": 1], ["a": 1, "b": -1], ["a": -1, "b": 1, "c": 1], ["a": 1, "b": 1], ["b": 1],
        ]
        for keys in suggestions {
            advice.add(["plan": ["kind": "scan"], "suggestion": .document(keys)], collection: "c", example: "")
        }
        advice.add(["plan": ["kind": "index"]], collection: "c", example: "")
        let result = advice.result()
        #expect(
            result.map { $0.keys.json() }.sorted() == [
                "{\"a\":-1,\"b\":1,\"c\":1}", "{\"a\":1,\"b\":1}", "{\"b\":1}",
            ])
        #expect(result.reduce(0) { $0 + $1.queries } == 5)
        #expect(advice.queries == 6 && advice.served == 1)
    }
}
