#if TansuSync
import Foundation
import Tansu
import TansuBSON
import TansuSync
import TansuTestSupport
import Testing

@Suite("Store: the documentation")
struct ReplicationGuideTests {
    @Test("The examples of docs/replication.md run")
    func examples() throws {
        let db = try Database(.memory)
        try using(db)
        try resolving(db)
    }

    private func using(_ db: Database) throws {
        let people = try db.collection("people")
        try people.enableReplication()

        try people.save(["_id": "mike", "age": 12])
        let first = try people.revision(of: "mike")  // 1-…
        try people.save(["_id": "mike", "age": 13])
        try people.save(["_id": "mike", "age": 14])
        let second = try people.revision(of: "mike")  // 2-…: the net change since the last look
        #expect(first?.generation == 1 && second?.generation == 2)
    }

    private func resolving(_ db: Database) throws {
        let counters = try db.collection("counters")
        let replicated = try counters.enableReplication { conflict in
            let mine = conflict.winner.fields["n"]?.intValue ?? 0
            let other = conflict.other.fields["n"]?.intValue ?? 0
            return .merge(["n": BSONValue(max(mine, other))])
        }
        #expect(replicated.name == "counters")
    }

    @Test("The examples of replicating run")
    func replicating() async throws {
        let people = try Database(.memory).collection("people")
        let copy = try Database(.memory).collection("people")
        try await people.save(["_id": "mike"])
        let once = try await people.replicate(with: copy, .push)
        for await status in once.statuses() {
            print(status)
        }
        let progress = try await once.wait()
        #expect(progress.documentsWritten == 1)
        #expect(try await copy.count() == 1)

        // No server is there, which a continuous replication waits for.
        let replication = try await people.replicate(with: "https://example.org/people", .both, .continuous)
        await replication.stop()
        #expect(replication.status.isEnd)
    }

    @Test("Every example of the page is here")
    func examplesAreHere() throws {
        let page = try GuidePage("docs/replication.md", testedBy: #filePath)
        #expect(page.lines.count > 10)
        for line in page.lines { #expect(page.test.contains(line), "\(line)") }
    }
}
#endif
