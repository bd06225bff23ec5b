#if TansuSync
import Tansu
import TansuBSON
import TansuTestSupport
import Testing

@testable import TansuSync

@Suite("Replicator: checkpoints")
struct CheckpointTests {
    private func checkpoint(_ sessions: (String, BSONValue)...) -> ReplicationCheckpoint {
        ReplicationCheckpoint(
            session: sessions[0].0, sequence: PeerSequence(sessions[0].1),
            history: sessions.map {
                .init(
                    id: $0.0, recorded: PeerSequence($0.1),
                    fields: ["session_id": .string($0.0), "recorded_seq": $0.1])
            })
    }

    @Test("What both sides have in common is the lower sequence of the newest run that both know")
    func common() {
        let common = ReplicationCheckpoint.common
        #expect(common(nil, checkpoint(("a", 1))) == nil)
        #expect(common(checkpoint(("a", 7)), checkpoint(("a", 7)))?.number == 7)
        #expect(common(checkpoint(("a", 7)), checkpoint(("a", .int64(7))))?.number == 7)
        #expect(common(checkpoint(("a", "9-x")), checkpoint(("a", "10-y")))?.json == "9-x")
        #expect(common(checkpoint(("a", [12, "x"])), checkpoint(("a", [10, "x"])))?.json == [10, "x"])
        #expect(common(checkpoint(("a", "x")), checkpoint(("a", "y"))) == nil)
        #expect(common(checkpoint(("b", 9), ("a", 5)), checkpoint(("c", 8), ("a", 5)))?.number == 5)
        #expect(common(checkpoint(("b", 9)), checkpoint(("c", 8))) == nil)
    }

    @Test("A checkpoint is a document as CouchDB's, and is read back")
    func document() async throws {
        let (a, b) = (try Replica(), try Replica())
        try await a.people.save(["_id": "x"])
        try await a.replicate(to: b)
        let local = try #require(try await a.replicated.read { try $0.locals() }.first)
        #expect(try await b.replicated.read { try $0.locals() }.first?.fields == local.fields)
        #expect(local.id.hasPrefix("_local/"))
        #expect(local.fields["replication_id_version"] == 4)
        #expect(local.fields["source_last_seq"]?.int64Value == 1)
        let entry = try #require(local.fields["history"]?.elements.first?.documentValue)
        #expect(entry["session_id"] == local.fields["session_id"])
        #expect(entry["start_time"] == "Fri, 15 Jan 2027 08:00:00 GMT")
        #expect(entry["docs_written"]?.intValue == 1 && entry["doc_write_failures"]?.intValue == 0)
        #expect(ReplicationCheckpoint(local.fields)?.fields == local.fields)
        #expect(ReplicationCheckpoint(["session_id": 7]) == nil)
    }

    @Test("After a failure at most one batch is done again", arguments: [0, 1, 2, 3], [nil, 0, 1, 2] as [Int?])
    func resumed(writes: Int, checkpoints: Int?) async throws {
        let (a, b) = (try Replica(), try Replica())
        try await a.people.save((0..<40).map { ["_id": .string("\($0)")] })
        var options = Replicator.Options.test()
        options.batchSize = 10
        let failing = WatchedPeer(peer: b.peer)
        failing.counts.withLock {
            $0.writesLeft = writes
            $0.checkpointsLeft = checkpoints
        }
        await #expect(throws: WatchedPeer.Failure.self) {
            try await Replicator(from: a.peer, to: failing, options).runOnce()
        }
        let done = failing.counts.withLock(\.checkpoints)
        let watched = WatchedPeer(peer: b.peer)
        _ = try await Replicator(from: a.peer, to: watched, options).runOnce()
        let checked = watched.counts.withLock(\.checked)
        #expect(checked.reduce(0) { $0 + $1.count } == 40 - done * 10)
        #expect(try b.leaves() == a.leaves())
    }

    @Test("A kill between the checkpoints of the two sides repeats that batch only")
    func halfRecorded() async throws {
        let (a, b) = (try Replica(), try Replica())
        try await a.people.save((0..<40).map { ["_id": .string("\($0)")] })
        var options = Replicator.Options.test()
        options.batchSize = 10
        let failing = WatchedPeer(peer: a.peer)
        failing.counts.withLock { $0.checkpointsLeft = 2 }
        await #expect(throws: WatchedPeer.Failure.self) {
            try await Replicator(from: failing, to: b.peer, options).runOnce()
        }
        let watched = WatchedPeer(peer: b.peer)
        _ = try await Replicator(from: a.peer, to: watched, options).runOnce()
        #expect(watched.counts.withLock(\.checked).reduce(0) { $0 + $1.count } == 20)
        #expect(try b.leaves() == a.leaves())
    }

    @Test("A target that was made anew gets everything")
    func newTarget() async throws {
        let (a, b) = (try Replica(), try Replica())
        try await a.people.save((0..<5).map { ["_id": .string("\($0)")] })
        try await a.replicate(to: b)
        try b.replicated.drop()
        let anew = try Replica(b.database)
        #expect(try await anew.people.count() == 0)
        #expect(try await a.replicate(to: anew).documentsWritten == 5)
    }

    @Test("A side that was restored from a backup gets again, or gives again, what was done since")
    func restored() async throws {
        let folder = try TemporaryFolder()
        let a = try Replica(Database(path: folder.path("a")))
        let b = try Replica(Database(path: folder.path("b")))
        try await a.people.save(["_id": "early"])
        try await a.replicate(to: b)
        try await a.database.backup(to: folder.path("old a"))
        try await b.database.backup(to: folder.path("old b"))
        try await a.people.save(["_id": "lost"])
        try await a.replicate(to: b)

        let oldTarget = try Replica(Database(path: folder.path("old b")))
        let again = try await a.replicate(to: oldTarget)
        #expect(again.missingChecked == 1 && again.documentsWritten == 1)
        #expect(try oldTarget.leaves() == a.leaves())

        let oldSource = try Replica(Database(path: folder.path("old a")))
        try await oldSource.people.save(["_id": "other"])
        let other = try await oldSource.replicate(to: b)
        #expect(other.missingChecked == 1 && other.documentsWritten == 1)
        #expect(try Set(b.leaves().keys) == ["early", "lost", "other"])
    }

    @Test("A file and a copy of it sync both ways, though their checkpoints have one name")
    func copiedFile() async throws {
        let folder = try TemporaryFolder()
        let original = folder.path("a")
        let copy = folder.path("b")
        let a = try Replica(Database(path: original))
        try await a.people.save(["_id": "shared"])
        _ = try a.leaves()
        try await a.database.backup(to: copy)
        let b = try Replica(Database(path: copy))
        try await b.people.save(["_id": "theirs"])
        try await a.people.save([["_id": "mine"], ["_id": "mine too"]])
        try await a.replicate(to: b)
        try await b.replicate(to: a)
        #expect(try a.leaves() == b.leaves())
        #expect(try await a.people.count() == 4)
    }
}
#endif
