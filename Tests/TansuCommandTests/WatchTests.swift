import Foundation
import TansuBSON
import Testing

@testable import TansuCommand

@Suite("tansu watch", .timeLimit(.minutes(20)))
struct WatchTests {
    /// Waits until the output file has so many lines.
    private func wait(for count: Int, _ command: Command) throws -> [String] {
        while true {
            let lines = try command.text("output").split(separator: "\n").map(String.init)
            if lines.count >= count { return lines }
            Thread.sleep(forTimeInterval: 0.02)
        }
    }

    @Test("changes that another process commits are printed until Ctrl-C")
    func follows() throws {
        let command = try Command.withPeople()
        let process = try command.start(["watch", "people.tansu", "--json"])
        var count = 0
        // The feed may be opened a moment later: changes before that are none.
        repeat {
            count += 1
            try command.succeed("save", "people.tansu", "people", "{\"_id\": 100, \"n\": \(count)}")
        } while try command.text("output").isEmpty
        let lines = try wait(for: 1, command)
        let change = try BSONDocument(extendedJSON: lines[0])
        #expect(change["collection"] == "people")
        #expect(change["id"] == 100)
        #expect(change["after"]?.documentValue?["_id"] == 100)
        kill(process.processIdentifier, SIGINT)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }

    @Test("changes from a commit on, of one collection, and of documents that match before or after")
    func selection() throws {
        let command = try Command.withPeople()
        try command.succeed(
            "save", "people.tansu", "people", "{\"_id\": 1, \"age\": 50, \"x\": \"$name\"}", "{\"_id\": 2}")
        try command.succeed("save", "people.tansu", "other", "{\"_id\": 3, \"age\": 50}")
        try command.succeed("update", "people.tansu", "people", "{\"_id\": 1}", "{\"$set\": {\"age\": 3}}")
        try command.succeed("update", "people.tansu", "people", "{\"_id\": 1}", "{\"$set\": {\"age\": 4}}")
        try command.succeed("save", "people.tansu", "people", "{\"_id\": 9, \"age\": 51}")
        let words = ["watch", "people.tansu", "people", "--since", "1", "--seconds", "0.2"]
        let all = try command.tansu(words, input: [])
        #expect(all.lines.contains { $0.hasPrefix("update people 1 {") })
        #expect(!all.output.contains("other"))
        let some = try command.tansu(words + ["--query", "{\"age\": {\"$gte\": 50}}", "--json"], input: [])
        let ids = try some.documents().map { $0["id"] }
        #expect(ids.contains(1) && ids.contains(9) && !ids.contains(2))
        let first = try command.tansu(words + ["--limit", "1"], input: [])
        #expect(first.lines.count == 1)
        let wrong = try command.tansu(words + ["--query", "{\"a\": {\"$foo\": 1}}"], input: [])
        #expect(wrong.status == 65)
        #expect(wrong.error.hasSuffix("[INVALID_QUERY, a.$foo]\n"))
        let none = try command.tansu(
            ["watch", "people.tansu", "--since", "0", "--seconds", "0.2", "--query", "{\"age\": 99}"], input: [])
        #expect(none.status == 0 && none.output.isEmpty)
        let missing = try command.tansu("watch", "people.tansu", "nobody", "--seconds", "0")
        #expect(missing.error == "tansu: There is no collection \"nobody\" yet\n")
        #expect(try command.tansu("watch", "none.tansu").status == 66)
        try command.succeed("remove", "people.tansu", "people", "{}")
        try command.succeed("save", "people.tansu", "people", "{}")
        try command.succeed("compact", "people.tansu")
        let compacted = try command.tansu(words, input: [])
        #expect(compacted.status == 66 && compacted.error.contains("or with \"--since 0\" [NOT_FOUND"))
    }
}
