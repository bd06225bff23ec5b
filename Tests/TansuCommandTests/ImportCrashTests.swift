import Foundation
import TansuBSON
import Testing

@Suite("Crash test of an import", .serialized)
struct ImportCrashTests {
    private static let batch = 50

    @Test("a killed import keeps every reported commit, complete and indexed", arguments: [1, 4, 13, 40])
    func killed(afterCommits wanted: Int) throws {
        let command = try Command()
        let lines = (1...60_000).map { "{\"_id\": \($0), \"n\": \($0), \"text\": \"number \($0)\"}\n" }
        try command.write("c.ndjson", lines.joined())
        try command.succeed("save", "db", "c", "{\"_id\": 0, \"n\": 0}")
        try command.succeed("index", "create", "db", "c", "n")

        let reported = try importAndKill(command, afterCommits: wanted)
        try #require(reported >= wanted * Self.batch)
        try #require(reported < lines.count, "the import ended before it was killed")

        let documents = try command.tansu("find", "db", "c", "{}", "{\"$index\": false}").documents()
        #expect(documents.map { $0["_id"]?.intValue } == Array(0..<documents.count))
        #expect(documents.allSatisfy { $0["n"] == $0["_id"] })
        #expect(documents.count > reported)
        #expect((documents.count - 1).isMultiple(of: Self.batch))
        let indexed = try command.tansu("count", "db", "c", "{\"n\": {\"$gte\": 0}}", "{\"$index\": \"n_1\"}")
        #expect(indexed.output == "\(documents.count)\n")

        // Another import completes the killed one.
        #expect(try command.tansu("import", "db", "c.ndjson").status == 0)
        #expect(try command.tansu("count", "db", "c").output == "\(lines.count + 1)\n")
    }

    /// Starts the import, kills it after a number of reported commits, and returns the number of reported documents.
    private func importAndKill(_ command: Command, afterCommits wanted: Int) throws -> Int {
        try command.write("reports", "")
        let process = Process()
        process.executableURL = Command.products.appendingPathComponent("tansu")
        process.arguments = ["import", "db", "c.ndjson", "--batch", String(Self.batch), "--verbose"]
        process.currentDirectoryURL = command.folder
        process.standardError = try FileHandle(forWritingTo: command.folder.appendingPathComponent("reports"))
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        while process.isRunning, try reports(command).count < wanted { usleep(500) }
        // A random delay, so that the kill interrupts commits at different points.
        usleep(.random(in: 0...5000))
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        #expect(process.terminationReason == .uncaughtSignal)
        return try reports(command).last ?? 0
    }

    /// The numbers of documents in complete lines such as "committed 50 documents, up to line 50".
    private func reports(_ command: Command) throws -> [Int] {
        let text = try String(contentsOfFile: command.path("reports"), encoding: .utf8)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        return lines.compactMap { $0.split(separator: " ").dropFirst().first.flatMap { Int($0) } }
    }
}
