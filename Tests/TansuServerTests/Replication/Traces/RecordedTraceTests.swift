#if TansuServer
import Foundation
import Tansu
import TansuBSON
import Testing

@testable import TansuServer
@testable import TansuSync

@Suite("Replication: recorded replications of CouchDB and PouchDB")
struct RecordedTraceTests {
    /// Replicates with a scripted peer, without waits.
    @available(macOS 14, *)
    private static func replicate(
        _ near: Database.Collection<BSONDocument>, _ direction: Replication.Direction, _ peer: ScriptedPeer,
        filter: ReplicationFilter = .all
    ) async throws -> ReplicationReport {
        let retries = RetryPolicy(sleep: { _ in }, random: { 0.5 })
        let remote = HTTPPeer(
            RemoteDatabase(try RemoteURL("http://recorded.example.org/db"), transport: peer, retries: retries))
        let local = LocalPeer(try await near.enableReplication())
        var options = Replicator.Options.system
        options.filter = filter
        switch direction {
        case .push: return try await Replicator(from: local, to: remote, options).runOnce()
        default: return try await Replicator(from: remote, to: local, options).runOnce()
        }
    }

    /// Compares a collection with what a recorded source had.
    @available(macOS 14, *)
    private static func compare(
        _ near: Database.Collection<BSONDocument>, _ peer: ScriptedPeer
    ) async throws {
        let expected = peer.leaves
        let documents = peer.source.documents
        try await near.enableReplication().read { store in
            let records = try store.documents(includesDeleted: true)
            var count = 0
            while let record = try records.read() {
                count += 1
                #expect(Set(record.tree.leaves.map(\.revision.description)) == expected[record.id], "\(record.id)")
                for leaf in record.tree.leaves {
                    let key = RecordedDocuments.Key(id: record.id, revision: "\(leaf.revision)")
                    let body = try #require(try store.body(of: record, leaf.revision), "\(key)")
                    let recorded = try WireDocument(json: Array("\(try #require(documents[key]))".utf8))
                    #expect(body.fields == recorded.fields && body.isDeleted == recorded.isDeleted, "\(key)")
                    #expect(
                        record.tree.path(of: leaf.revision, limit: 1_000)?.revisions == recorded.path?.revisions)
                    // Equal digests are equal bytes: these are checked when they come.
                    #expect(
                        Set(body.files.map { "\($0.name) \($0.contentType) \($0.digest) \($0.length)" })
                            == Set(
                                recorded.attachments.map {
                                    "\($0.name) \($0.contentType) \($0.digest ?? "") \($0.length ?? -1)"
                                }), "\(key)")
                }
            }
            #expect(count == expected.count)
        }
    }

    private static func side(_ trace: String, _ side: String) -> [RecordedRequest] {
        RecordedTrace.requests(of: trace).filter { $0.side == side || $0.side == "remote" }
    }

    @available(macOS 14, *)
    @Test(
        "From a source that answers as it was recorded",
        arguments: [
            ("couchdb-pull-only", 15), ("couchdb-oneshot-basic", 17), ("couchdb-create-target", 4),
            ("couchdb-selector", 5), ("pouchdb-pull", 17), ("pouchdb-live-pull", 5),
        ])
    func pulling(trace: String, count: Int) async throws {
        let peer = ScriptedPeer(Self.side(trace, "source"))
        #expect(peer.leaves.count == count)
        let near = try Database(.memory).collection("people")
        let selector = try Mango.Selector(["t": "x"])
        // The recorded replicator has asked several times for what followed.
        for run in 1...6 {
            let report = try await Self.replicate(
                near, .pull, peer, filter: trace.hasSuffix("selector") ? .selector(selector) : .all)
            #expect(report.writeFailures == 0, "\(report.failures)")
            if run == 1 { #expect(report.documentsWritten > 0) }
        }
        try await Self.compare(near, peer)
        #expect(peer.state.withLock { $0.surprises } == [])
        // And once more there is nothing to do.
        let last = try await Self.replicate(
            near, .pull, peer, filter: trace.hasSuffix("selector") ? .selector(selector) : .all)
        #expect(last.documentsRead == 0 && last.missingChecked == 0)
    }

    @available(macOS 14, *)
    @Test(
        "To a target that answers as it was recorded: it gets what CouchDB and PouchDB sent",
        arguments: [("couchdb-pull-only", "couchdb-push-only"), ("pouchdb-pull", "pouchdb-push")])
    func pushing(source: String, target: String) async throws {
        let near = try Database(.memory).collection("people")
        let recorded = Self.side(target, "target")
        let from = ScriptedPeer(Self.side(source, "source"))
        for _ in 1...6 {
            let report = try await Self.replicate(near, .pull, from)
            #expect(report.writeFailures == 0)
        }
        let peer = ScriptedPeer(recorded)
        let report = try await Self.replicate(near, .push, peer)
        #expect(report.writeFailures == 0)
        let (received, surprises) = peer.state.withLock { ($0.received, $0.surprises) }
        #expect(surprises == [])
        let sent = RecordedDocuments(sentIn: recorded)
        // Of a document that was edited again only the later revision is sent.
        let superseded = sent.documents.keys.filter { received.documents[$0] == nil }
        let edited = Set(received.documents.keys.map(\.id))
        #expect(superseded.allSatisfy { edited.contains($0.id) }, "\(superseded)")
        #expect(Set(received.documents.keys).isSubset(of: sent.documents.keys))
        for (key, document) in received.documents {
            let ours = try WireDocument(json: Array("\(document)".utf8))
            let theirs = try WireDocument(json: Array("\(try #require(sent.documents[key]))".utf8))
            #expect(ours.fields == theirs.fields && ours.isDeleted == theirs.isDeleted, "\(key)")
            #expect(ours.path?.revisions == theirs.path?.revisions, "\(key)")
            #expect(Set(ours.attachments.map(\.name)) == Set(theirs.attachments.map(\.name)), "\(key)")
        }
        for (key, attachment) in sent.attachments where received.documents[key.document] != nil {
            let ours = try #require(received.attachments[key], "\(key)")
            #expect(ours.bytes == attachment.bytes && ours.encoding == attachment.encoding, "\(key)")
        }
    }
}
#endif
