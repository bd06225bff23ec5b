#if TansuSync
import Foundation
import Tansu
import TansuBSON
import TansuTestSupport
import Testing

@testable import TansuSync

@Suite("Replicated collections: what the pages promise about single documents")
struct DocumentPromiseTests {
    @Test("Keys of every kind come back as they were sent, also those that begin with $ and a combining character")
    func keys() async throws {
        let parts = ["$", "\u{FF04}", "\u{301}", "a", "e\u{301}", "\u{1}", ".", "👩‍👧", "\u{200D}"]
        var fields = BSONDocument()
        for first in parts {
            for second in parts {
                fields[first + second] = .string(first + second)
                fields["in \(first)\(second)"] = .document([second + first: 1])
            }
        }

        let replica = try Replica()
        let other = try Replica()
        let path = RevisionPath(try Revision(generation: 1, hash: "0123456789abcdef0123456789abcdef"))
        let sent = PeerRevision(id: "x", path: path, isDeleted: false, fields: fields)
        #expect(try await replica.peer.write([sent]) == [nil])
        let report = try await replica.replicate(to: other)
        #expect(report.documentsWritten == 1)
        var received: [BSONDocument] = []
        try await other.peer.fetch([DocumentRevisions(id: "x", revisions: [path.revision])]) { fetched in
            if case .revision(let revision) = fetched { received.append(revision.fields) }
        }
        #expect(received.map(\.bytes) == [fields.bytes])
        #expect(try await other.people.get("x")?["$$"] == "$$")
    }

    @Test("A document that was removed and made again between two looks has no attachments of its former life")
    func madeAgain() async throws {
        let replica = try Replica()
        let other = try Replica()
        try await replica.people.save(["_id": "x", "n": 1])
        try await replica.people.attachments(of: "x").add([1, 2, 3], name: "a")
        let first = try await replica.replicate(to: other)
        #expect(first.documentsWritten == 1)
        _ = try await replica.people.remove(id: "x")
        try await replica.people.save(["_id": "x", "n": 2])
        let here = try await replica.people.attachments(of: "x").list().map(\.name)
        let second = try await replica.replicate(to: other)
        #expect(second.documentsWritten == 1)
        #expect(try await replica.people.attachments(of: "x").list().map(\.name) == here)
        #expect(try await other.people.attachments(of: "x").list().map(\.name) == here)
        #expect(try other.leaves() == replica.leaves())
    }

    @Test("Attachments go with a document that was removed, for its next life too")
    func removed() async throws {
        let replica = try Replica()
        try await replica.people.save(["_id": "x", "n": 1])
        try await replica.people.attachments(of: "x").add([1, 2, 3], name: "a")
        _ = try await replica.people.remove(id: "x")
        _ = try await replica.people.revision(of: "x")
        try await replica.people.save(["_id": "x", "n": 2])
        _ = try await replica.people.revision(of: "x")
        #expect(try await replica.people.attachments(of: "x").list().isEmpty)
        _ = try await replica.database.removeUnusedAttachments()
        #expect(try await replica.people.attachments(of: "x").list().isEmpty)
    }

    @Test("An edit that changes only the type of a number reaches the other side")
    func numberTypes() async throws {
        let replica = try Replica()
        let other = try Replica()
        try await replica.people.save(["_id": "x", "n": .int32(1)])
        let first = try await replica.people.revision(of: "x")
        try await replica.replicate(to: other)
        try await replica.people.save(["_id": "x", "n": .double(1)])
        #expect(try await replica.people.revision(of: "x") != first)
        try await replica.replicate(to: other)
        guard case .double(1)? = try await other.people.get("x")?["n"] else {
            Issue.record("The number is still an integer on the other side")
            return
        }
    }
}
#endif
