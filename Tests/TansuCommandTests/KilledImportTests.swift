import Foundation
import TansuBSON
import Testing

@Suite("An import that is killed", .serialized)
struct KilledImportTests {
    private static let batch = 50

    @Test("keeps every commit that it told of, whole and indexed", arguments: [1, 4, 13, 40])
    func killed(afterCommits wanted: Int) throws {
        let command = try Command()
        let lines = (1...60_000).map { "{\"_id\": \($0), \"n\": \($0), \"text\": \"number \($0)\"}\n" }
        try command.write("c.ndjson", lines.joined())
        try command.tansu("save", "db", "c", "{\"_id\": 0, \"n\": 0}")
        try command.tansu("index", "create", "db", "c", "n")

        let told = try importAndKill(command, afterCommits: wanted)
        try #require(told >= wanted * Self.batch)
        try #require(told < lines.count, "it was killed too late to tell anything")

        let documents = try command.tansu("find", "db", "c", "{}", "{\"$index\": false}").documents()
        #expect(documents.map { $0["_id"]?.intValue } == Array(0..<documents.count))
        #expect(documents.allSatisfy { $0["n"] == $0["_id"] })
        #expect(documents.count > told)
        #expect((documents.count - 1).isMultiple(of: Self.batch))
        let indexed = try command.tansu("count", "db", "c", "{\"n\": {\"$gte\": 0}}", "{\"$index\": \"n_1\"}")
        #expect(indexed.output == "\(documents.count)\n")

        // What was killed goes on where it stopped.
        #expect(try command.tansu("import", "db", "c.ndjson").status == 0)
        #expect(try command.tansu("count", "db", "c").output == "\(lines.count + 1)\n")
    }

    /// Starts the import, kills it once it told of so many commits, and returns how many documents it told of.
    private func importAndKill(_ command: Command, afterCommits wanted: Int) throws -> Int {
        try command.write("told", "")
        let process = Process()
        process.executableURL = Command.products.appendingPathComponent("tansu")
        process.arguments = ["import", "db", "c.ndjson", "--batch", String(Self.batch), "--verbose"]
        process.currentDirectoryURL = command.folder
        process.standardError = try FileHandle(forWritingTo: command.folder.appendingPathComponent("told"))
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        while process.isRunning, try told(command).count < wanted { usleep(500) }
        // Somewhere within a commit rather than always right after one.
        usleep(.random(in: 0...5000))
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        #expect(process.terminationReason == .uncaughtSignal)
        return try told(command).last ?? 0
    }

    /// The numbers of documents in "committed 50 documents, up to line 50", a whole line each.
    private func told(_ command: Command) throws -> [Int] {
        let text = try String(contentsOfFile: command.path("told"), encoding: .utf8)
        let whole = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        return whole.compactMap { $0.split(separator: " ").dropFirst().first.flatMap { Int($0) } }
    }
}
