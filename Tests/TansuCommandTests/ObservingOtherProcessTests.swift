import Foundation
import Tansu
import TansuBSON
import TansuTestSupport
import Testing

/// Change streams, live queries and observed values in this process, of a database that other processes write.
@Suite("Observing what another process writes", .timeLimit(.minutes(20)))
struct ObservingOtherProcessTests {
    /// A database with the collection "c", whose documents 1 to 10 have `n` equal to `_id`.
    private func ten() throws -> Command {
        let command = try Command()
        try command.write("ten.ndjson", (1...10).map { "{\"_id\": \($0), \"n\": \($0)}\n" }.joined())
        try command.succeed("import", "db", "ten.ndjson", "--collection", "c")
        return command
    }

    private func follower(_ command: Command, follow: Bool = true) throws -> Database {
        try Database(path: command.path("db"), options: .init(allowWriter: true, follow: follow))
    }

    /// Imports documents with these ids, 50 in each commit, in another process.
    private func startImport(_ command: Command, _ ids: ClosedRange<Int>) throws -> Process {
        try command.write("more.ndjson", ids.map { "{\"_id\": \($0), \"n\": \($0)}\n" }.joined())
        return try command.start(["import", "db", "more.ndjson", "--collection", "c", "--batch", "50"])
    }

    @Test("a change stream delivers each change once, in order, while another process imports and others compact")
    func changes() async throws {
        let command = try ten()
        let reader = try follower(command)
        var changes = try reader.collection("c").changes().makeAsyncIterator()
        var last = 10
        for round in 0..<3 {
            let process = try startImport(command, last + 1...last + 5000)
            for id in last + 1...last + 5000 {
                let change = try #require(try await changes.next())
                try #require(change.kind == .insert && change.id == BSONValue(id))
                try #require(change.after?["n"] == BSONValue(id))
                try #require(change.isLastOfCommit == ((id - 10).isMultiple(of: 50)))
            }
            last += 5000
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
            try command.succeed("update", "db", "c", "{\"_id\": {\"$lte\": 10}}", "{\"$set\": {\"n\": \(-round)}}")
            for id in 1...10 {
                let change = try #require(try await changes.next())
                try #require(
                    change.kind == .update && change.id == BSONValue(id) && change.after?["n"] == BSONValue(-round))
            }
            try command.succeed("compact", "db")
        }
        #expect(try await reader.collection("c").count() == last)
        try await reader.close()
    }

    @Test(
        "a live query delivers a result after each command of another process that changes it",
        arguments: [true, false])
    func liveQuery(follow: Bool) async throws {
        let command = try ten()
        let reader = try follower(command, follow: follow)
        var low = try reader.collection("c").find(["n": ["$lt": 3]]).sorted(by: "_id").observe().makeAsyncIterator()
        #expect(try await low.next()?.map { $0["_id"] } == [1, 2])
        for command in [
            { try command.succeed("save", "db", "c", "{\"_id\": 11, \"n\": 0}") },
            { try command.succeed("save", "db", "c", "{\"_id\": 12, \"n\": 12}") },
            { try command.succeed("compact", "db") },
            { try command.succeed("remove", "db", "c", "{\"_id\": 1}", "--yes") },
        ] {
            try command()
            // Without `follow` the program says when it goes on.
            if !follow { try await reader.refresh() }
        }
        var ids = try await low.next()?.map { $0["_id"] }
        if ids == [1, 2, 11] { ids = try await low.next()?.map { $0["_id"] } }
        #expect(ids == [2, 11])
        try await reader.close()
    }

    @Test("an observed value is computed again after a change of another process")
    func observedValue() async throws {
        let command = try ten()
        let reader = try follower(command)
        var counts = reader.observe { try $0.collection("c").count(["n": ["$gt": 5]]) }.makeAsyncIterator()
        #expect(try await counts.next() == 5)
        for id in 11...15 {
            try command.succeed("save", "db", "c", "{\"_id\": \(id), \"n\": \(id)}")
            #expect(try await counts.next() == id - 5)
        }
        try await reader.close()
    }

    @Test("a cancelled stream ends while another process writes, and others go on")
    func cancelling() async throws {
        let command = try ten()
        let reader = try follower(command)
        let kept = try reader.collection("c").changes()
        let cancelled = Task {
            for try await _ in try reader.collection("c").changes() {}
        }
        let process = try startImport(command, 11...2010)
        var iterator = kept.makeAsyncIterator()
        for id in 11...1000 { #expect(try await iterator.next()?.id == BSONValue(id)) }
        cancelled.cancel()
        // A loop that is cancelled ends as one that has no more elements, or throws.
        if case .failure(let error) = await cancelled.result { #expect(error is CancellationError) }
        for id in 1001...2010 { #expect(try await iterator.next()?.id == BSONValue(id)) }
        process.waitUntilExit()
        try await reader.close()
    }

    @Test("closing the reader ends its streams while another process writes")
    func closing() async throws {
        let command = try ten()
        let reader = try follower(command)
        let process = try startImport(command, 11...20_010)
        let stream = try reader.collection("c").changes()
        let live = try reader.collection("c").find().limit(3).observe()
        let changes = Task { for try await _ in stream {} }
        let results = Task { for try await _ in live {} }
        var some = try reader.collection("c").changes().makeAsyncIterator()
        _ = try await some.next()
        try await reader.close()
        for task in [changes, results] {
            let error = await #expect(throws: TansuError.self) { try await task.value }
            #expect(error?.code == .closed)
        }
        process.terminate()
        process.waitUntilExit()
        #expect(try command.tansu("verify", "db").status == 0)
    }

    @Test("a stream goes on after the writing process was killed, and through the next ones")
    func killing() async throws {
        let command = try ten()
        let reader = try follower(command)
        var changes = try reader.collection("c").changes().makeAsyncIterator()
        var last = 10
        for _ in 0..<4 {
            let process = try startImport(command, last + 1...last + 60_000)
            for _ in 0..<200 {
                last += 1
                #expect(try await changes.next()?.id == BSONValue(last))
            }
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            // What the killed process has committed, and nothing else, is delivered and stays.
            let count = try await reader.collection("c").count()
            while last < count {
                last += 1
                #expect(try await changes.next()?.id == BSONValue(last))
            }
            #expect(try command.tansu("count", "db", "c").output == "\(count)\n")
            try command.succeed("save", "db", "c", "{\"_id\": 1, \"n\": 1}")
            #expect(try await changes.next()?.id == 1)
        }
        try await reader.close()
    }
}
