#if TansuSync
import Foundation
import Tansu
import TansuBSON
import TansuTestSupport
import Testing

@testable import TansuSync

@Suite("Replicator: from collection to collection")
struct ReplicatorTests {
    private let a: Replica
    private let b: Replica

    init() throws {
        a = try Replica()
        b = try Replica()
    }

    @Test("Documents, deletions and ids of both kinds are copied once")
    func once() async throws {
        let id = try await a.people.save(["name": "mike"])
        try await a.people.save([["_id": "x", "when": .date(5)], ["_id": "gone"]])
        _ = try await a.people.revision(of: "gone")
        try await a.people.remove(id: "gone")
        let report = try await a.replicate(to: b)
        #expect(report.documentsWritten == 3 && report.writeFailures == 0)
        #expect(try b.leaves() == a.leaves())
        #expect(try b.documents()["x"] == a.documents()["x"])
        #expect(try await b.people.count() == 2)
        #expect(try b.leaves()[RevisionStore.wireID(of: id) ?? ""]?.count == 1)

        let again = try await a.replicate(to: b)
        #expect(again.missingChecked == 0 && again.documentsRead == 0 && again.checkpoint == nil)
        // What came from the source is not missing there.
        let back = try await b.replicate(to: a)
        #expect(back.missingChecked == 3 && back.missingFound == 0)
    }

    @Test("A document that is damaged in the source is no answer")
    func damaged() async throws {
        let folder = try TemporaryFolder()
        let source = try Replica(Database(path: folder.path("a")))
        try await source.people.save([["_id": "x", "name": "needle"]])
        let leaves = try #require(try source.leaves()["x"])
        let wanted = [DocumentRevisions(id: "x", revisions: leaves.map(\.revision))]
        try await source.peer.fetch(wanted) { _ in }
        // In place: the open database sees it too.
        let file = URL(fileURLWithPath: folder.path("a")).appendingPathComponent("log/00000001.seg")
        let place = try #require(try Data(contentsOf: file).range(of: Data("needle".utf8)))
        let handle = try FileHandle(forWritingTo: file)
        try handle.seek(toOffset: UInt64(place.lowerBound))
        try handle.write(contentsOf: Data("N".utf8))
        try handle.close()
        // What was checked once is trusted while the database is open.
        let path = folder.path("a")
        try await source.database.close()
        let again = try Replica(Database(path: path))
        #expect(try again.documents()["x"]?["name"] == "Needle")
        let error = await #expect(throws: TansuError.self) { try await again.peer.fetch(wanted) { _ in } }
        #expect(error?.code == .corrupt)
    }

    @Test("Ids that Swift takes as equal are those of different documents")
    func canonicallyEqual() async throws {
        let ids = ["\u{E9}", "e\u{301}"]
        try await a.people.save(ids.map { ["_id": .string($0)] })
        let one = try await a.replicate(to: b) { $0.filter = .ids([BytewiseText(ids[1])]) }
        #expect(one.documentsWritten == 1)
        let other = try await a.replicate(to: b) { $0.filter = .ids([BytewiseText(ids[0])]) }
        #expect(other.documentsWritten == 1)
        let all = try await a.replicate(to: b)
        #expect(all.missingChecked == 2 && all.missingFound == 0)
        #expect(try await b.people.count() == 2)
    }

    @Test("Edits on both sides are conflicts that both have, with one winner")
    func conflicts() async throws {
        try await a.people.save(["_id": "x", "n": 0])
        try await a.replicate(to: b)
        try await a.people.save(["_id": "x", "n": 1])
        try await b.people.save(["_id": "x", "n": 2])
        try await a.replicate(to: b)
        try await b.replicate(to: a)
        #expect(try a.leaves() == b.leaves())
        #expect(try a.leaves()["x"]?.count == 2)
        #expect(try a.documents() == b.documents())
        #expect(
            try await a.people.conflicts(of: "x").map(\.fields) == b.people.conflicts(of: "x").map(\.fields))
        try await a.people.resolveConflicts(of: "x", with: ["n": 3])
        try await a.replicate(to: b)
        #expect(try await b.people.conflicts(of: "x").isEmpty)
        #expect(try await b.people.get("x")?["n"] == 3)
    }

    @Test("Attachments are copied, and those of a former revision are not read again")
    func attachments() async throws {
        try await a.people.save(["_id": "x"])
        let text = [UInt8](repeating: 65, count: 600_000)
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        try await a.people.attachments(of: "x").add(text, name: "a.txt", type: "text/plain")
        try await a.people.attachments(of: "x").add(bytes, name: "b.bin", type: "application/octet-stream")
        try await a.replicate(to: b)
        #expect(try await b.people.attachments(of: "x").bytes(of: "a.txt") == text)
        #expect(try await b.people.attachments(of: "x").bytes(of: "b.bin") == bytes)
        #expect(try b.leaves() == a.leaves())

        try await a.people.save(["_id": "x", "n": 1])
        let reads = Locked(0)
        let source = a.peer
        let changes = try await source.changes(after: nil, filter: .all, limit: 10)
        var revisions: [PeerRevision] = []
        try await source.fetch(changes.documents) { fetched in
            guard case .revision(let revision) = fetched else { return }
            let attachments = revision.attachments.map { attachment in
                PeerAttachment(
                    name: attachment.name, contentType: attachment.contentType, digest: attachment.digest,
                    length: attachment.length, revpos: attachment.revpos, encoding: attachment.encoding,
                    encodedLength: attachment.encodedLength
                ) {
                    reads.withLock { $0 += 1 }
                    return try await attachment.open()
                }
            }
            revisions.append(
                PeerRevision(
                    id: revision.id, path: revision.path, isDeleted: revision.isDeleted, fields: revision.fields,
                    attachments: attachments))
        }
        #expect(try await b.peer.write(revisions) == [nil])
        #expect(reads.withLock { $0 } == 0)
        #expect(try await b.people.attachments(of: "x").bytes(of: "a.txt") == text)
        #expect(try await b.database.removeUnusedAttachments() == 0)
    }

    @Test("Another media type for the same bytes is copied too")
    func mediaType() async throws {
        try await a.people.save(["_id": "x"])
        for type in ["image/png", "image/gif"] {
            try await a.people.attachments(of: "x").add([1, 2, 3], name: "a", type: type)
            #expect(try await a.replicate(to: b).documentsWritten == 1)
            #expect(try await b.people.attachments(of: "x").list().map(\.contentType) == [type])
        }
    }

    @Test("Batches are bounded in documents and in bytes", arguments: [(1, 1 << 20), (500, 1), (7, 300)])
    func batches(size: Int, bytes: Int) async throws {
        try await a.people.save((0..<50).map { ["_id": .string("\($0)"), "n": BSONValue($0)] })
        let report = try await a.replicate(to: b) {
            $0.batchSize = size
            $0.batchBytes = bytes
        }
        #expect(report.documentsWritten == 50)
        #expect(try b.leaves() == a.leaves())
    }

    @Test("Bytes that do not have the digest, or cannot be read, refuse their revision only")
    func wrongDigest() async throws {
        let path = RevisionPath(try Revision(generation: 1, hash: "0123456789abcdef0123456789abcdef"))
        let right = "md5-CY9rzUYh03PK3k6DJie09g=="  // of "test"
        func revision(_ id: String, _ digest: String, fails: Bool = false) -> PeerRevision {
            let attachment = PeerAttachment(
                name: "a", contentType: "image/png", digest: digest, length: 4, revpos: 1, encoding: nil
            ) {
                if fails { throw SyncError(.damaged, "The bytes are damaged") }
                let rest = Locked([Array("test".utf8)])
                return PeerBytes(encoding: nil, stream: ByteStream { rest.withLock { $0.popLast() } })
            }
            return PeerRevision(id: id, path: path, isDeleted: false, fields: [:], attachments: [attachment])
        }
        let reasons = try await b.peer.write([
            revision("wrong", "md5-AAAAAAAAAAAAAAAAAAAAAA=="), revision("right", right),
            revision("damaged", right, fails: true),
        ])
        #expect(reasons.map { $0 == nil } == [false, true, false])
        #expect(try await b.people.count() == 1)
        #expect(try await b.people.attachments(of: "right").bytes(of: "a") == Array("test".utf8))
    }

    @Test("A document that the target refuses is reported, and stops no other")
    func refused() async throws {
        try await b.people.ensureIndex("by_name", on: ["name": .ascending], unique: true)
        try await b.people.save(["_id": "here", "name": "mike"])
        try await a.people.save([["_id": "1", "name": "mike"], ["_id": "2", "name": "anna"]])
        let report = try await a.replicate(to: b)
        #expect(report.documentsWritten == 1 && report.writeFailures == 1)
        #expect(report.failures.map(\.id) == ["1"])
        #expect(report.failures.first?.reason.isEmpty == false)
        #expect(try await b.people.count() == 2)
    }

    @Test("Filters by id and by selector; each has a checkpoint of its own")
    func filters() async throws {
        try await a.people.save((0..<20).map { ["_id": .string("\($0)"), "n": BSONValue($0)] })
        let ids = try await a.replicate(to: b) { $0.filter = .ids([BytewiseText("3"), BytewiseText("5")]) }
        #expect(ids.documentsWritten == 2)
        let selector = try Mango.Selector(["n": ["$gte": 15]])
        let selected = try await a.replicate(to: b) { $0.filter = .selector(selector) }
        #expect(selected.documentsWritten == 5)
        #expect(try Set(b.leaves().keys) == ["3", "5", "15", "16", "17", "18", "19"])
        let rest = try await a.replicate(to: b)
        #expect(rest.missingChecked == 20 && rest.documentsWritten == 13)
        let again = try await a.replicate(to: b) { $0.filter = .selector(selector) }
        #expect(again.missingChecked == 0 && again.checkpoint == nil)
    }

    @Test("Continuously: what is saved later follows, until the task is cancelled")
    func continuous() async throws {
        try await a.people.save(["_id": "first"])
        let (idle, continuation) = AsyncStream<Int>.makeStream()
        let replicator = Replicator(from: a.peer, to: b.peer, .test())
        let task = Task {
            try await replicator.runContinuously { continuation.yield($0.documentsWritten) }
        }
        var written = idle.makeAsyncIterator()
        #expect(await written.next() == 1)
        try await a.people.save([["_id": "second"], ["_id": "third"]])
        #expect(await written.next() == 3)
        #expect(try await b.people.count() == 3)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("Replicas with random edits, removals and conflicts converge", arguments: 0..<8)
    func convergence(seed: Int) async throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let replicas = [a, b, try Replica()]
        for _ in 0..<60 {
            let replica = replicas[Int.random(in: 0..<3, using: &random)]
            let id = "doc\(Int.random(in: 0..<6, using: &random))"
            switch Int.random(in: 0..<8, using: &random) {
            case 0: try await replica.people.remove(id: id)
            case 1:
                let file = [UInt8](repeating: UInt8.random(in: 0...9, using: &random), count: 1_000)
                if try await replica.people.get(id) != nil {
                    try await replica.people.attachments(of: id).add(file, name: "f")
                }
            case 2, 3:
                let other = replicas[Int.random(in: 0..<3, using: &random)]
                if other.replicated !== replica.replicated {
                    try await replica.replicate(to: other) { $0.batchSize = 3 }
                }
            default:
                try await replica.people.save([
                    "_id": .string(id), "n": BSONValue(Int.random(in: 0..<9, using: &random)),
                ])
            }
        }
        for _ in 0..<2 {
            for source in replicas {
                for target in replicas where target.replicated !== source.replicated {
                    try await source.replicate(to: target)
                }
            }
        }
        let leaves = try a.leaves()
        let documents = try a.documents()
        #expect(!leaves.isEmpty)
        for replica in replicas.dropFirst() {
            #expect(try replica.leaves() == leaves)
            #expect(try replica.documents() == documents)
            for id in documents.keys {
                let id = id.stringValue ?? ""
                #expect(
                    try await replica.people.attachments(of: id).list().map(\.digest)
                        == a.people.attachments(of: id).list().map(\.digest))
            }
        }
    }
}
#endif
