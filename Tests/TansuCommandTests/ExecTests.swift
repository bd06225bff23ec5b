import Foundation
import TansuBSON
import Testing

@testable import TansuCommand

@Suite("tansu exec")
struct ExecTests {
    @Test("each line gets one line, and an error does not end the session")
    func answers() throws {
        let command = try Command.withPeople()
        let result = try command.tansu(
            "exec", "people.tansu",
            input: """
                {"op": "count", "collection": "people"}

                no JSON
                {"op": "fly"}
                {"op": "insert", "collection": "people", "documents": [{"_id": 8}, {"_id": 7}]}
                {"op": "get", "collection": "people", "id": 7}
                """)
        #expect(result.status == 0)
        #expect(result.error == "")
        let answers = try result.documents()
        try #require(answers.count == 6)
        #expect(result.lines[0] == #"{"ok": true, "count": 3}"#)
        let codes = answers[1...4].map { $0["error"]?.documentValue?["code"]?.stringValue ?? "" }
        #expect(codes == ["INVALID_JSON", "INVALID_JSON", "INVALID_COMMAND", "EXISTS"])
        #expect(answers[5]["document"]?.documentValue?["name"] == "Cem")
    }

    @Test("an answer comes before the next command is read")
    func conversation() throws {
        let command = try Command.withPeople()
        let (input, output) = (Pipe(), Pipe())
        let process = Process()
        process.executableURL = Command.products.appendingPathComponent("tansu")
        process.arguments = ["exec", command.path("people.tansu")]
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
        let talk = { (line: String) throws -> String in
            try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
            return String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        }
        #expect(try talk(#"{"op": "begin"}"#) == "{\"ok\": true, \"transaction\": 1}\n")
        let remove = #"{"op": "remove", "collection": "people", "query": {}, "transaction": 1}"#
        #expect(try talk(remove) == "{\"ok\": true, \"removed\": 3}\n")
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        // It was not committed.
        #expect(try command.tansu("count", "people.tansu", "people").output == "3\n")
    }

    @Test("--stop-at-error ends with the exit code of the error")
    func stops() throws {
        let command = try Command.withPeople()
        let input = """
            {"op": "count", "collection": "people"}
            {"op": "insert", "collection": "people", "documents": [{"_id": 7}]}
            {"op": "count", "collection": "people"}
            """
        let result = try command.tansu("exec", "people.tansu", "--stop-at-error", input: input)
        #expect(result.status == 65)
        #expect(result.lines.count == 2)
    }

    @Test("--readonly refuses changes, and --create makes a database")
    func modes() throws {
        let command = try Command.withPeople()
        let save = #"{"op": "save", "collection": "c", "documents": [{"_id": 1}]}"#
        let refused = try command.tansu("exec", "people.tansu", "--readonly", input: save)
        #expect(refused.output.contains("READ_ONLY"))
        #expect(try command.tansu("exec", "new.tansu", input: save).status == 66)
        #expect(
            try command.tansu("exec", "new.tansu", "--create", input: save).output == "{\"ok\": true, \"ids\": [1]}\n")
        #expect(try command.tansu("exec", "new.tansu", "--create", "--readonly").status == 64)
    }

    @Test("bytes that are no UTF-8 and NUL characters are errors, and the next line is read")
    func hostileBytes() throws {
        let command = try Command.withPeople()
        let count = #"{"op": "count", "collection": "people"}"#
        let input: [UInt8] = [0xFF, 0x0A, 0x7B, 0x00, 0x7D, 0x0A] + Array(count.utf8)
        let result = try command.tansu(["exec", "people.tansu"], input: input)
        let answers = try result.documents()
        #expect(
            answers.map { $0["error"]?.documentValue?["code"]?.stringValue } == ["INVALID_JSON", "INVALID_JSON", nil])
    }

    @Test(
        "what the library keeps is not written, however its name is spelled",
        arguments: [
            #"{"op": "save", "collection": "tansu.sync", "documents": [{"_id": 1}]}"#,
            #"{"op": "save", "collection": "\u0074ansu.sync", "documents": [{"_id": 1}]}"#,
            #"{"op": "renameCollection", "collection": "people", "to": "tansu.x"}"#,
            #"{"op": "renameCollection", "collection": "people", "to": "_users"}"#,
            #"{"op": "aggregate", "collection": "people", "pipeline": [{"$out": "tansu.x"}]}"#,
            #"{"op": "transaction", "commands": [{"op": "remove", "collection": "tansu.x", "query": {}}]}"#,
            #"{"op": "update", "collection": "_users", "query": {}, "update": {"$set": {"password": "x"}}}"#,
            #"{"op": "load", "from": "file"}"#,
            #"{"op": "createCollection", "collection": "q", "options": {"changeTracking": "tansu.accounts"}}"#,
            #"{"op": "createCollection", "collection": "q", "options": {"changeTracking": "_users"}}"#,
            #"{"op": "createCollection", "collection": "q", "options": {"references": [{"path": "a", "to": "tansu.x"}]}}"#,
        ])
    func reserved(request: String) throws {
        let command = try Command.withPeople()
        let result = try command.tansu("exec", "people.tansu", input: request)
        let code = try result.documents()[0]["error"]?.documentValue?["code"]?.stringValue
        #expect(["INVALID_ARGUMENT", "CLEAR_PASSWORD"].contains(code))
        #expect(try command.tansu("collections", "people.tansu").output.contains("tansu.") == false)
    }

    @Test("lines of a source, with and without an end, in pieces, and too long")
    func lines() throws {
        for piece in [1, 3, 100] {
            var reader = LineReader(PieceSource("ab\r\n\n123456789\n1234567\nend", piece: piece), limit: 7)
            var lines: [LineReader.Line] = []
            while let line = try reader.next() { lines.append(line) }
            #expect(
                lines == [
                    .text(Array("ab".utf8)), .text([]), .tooLong, .text(Array("1234567".utf8)),
                    .text(Array("end".utf8)),
                ])
        }
        var long = LineReader(PieceSource(String(repeating: "x", count: 300_000), piece: 4096), limit: 1000)
        #expect(try long.next() == .tooLong)
        #expect(try long.next() == nil)
        var marked = LineReader(PieceSource("\u{FEFF}a\n\u{FEFF}b", piece: 1), limit: 9)
        #expect(try marked.next() == .text(Array("a".utf8)))
        #expect(try marked.next() == .text(Array("\u{FEFF}b".utf8)))
        var none = LineReader(PieceSource("", piece: 1), limit: 1)
        #expect(try none.next() == nil)
    }
}
