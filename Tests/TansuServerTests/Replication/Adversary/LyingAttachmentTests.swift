#if TansuServer
import Foundation
import Tansu
import TansuBSON
import Testing

@testable import TansuServer
@testable import TansuSync

@Suite("Replication: attachments that are not what they should be")
struct LyingAttachmentTests {
    enum Lie: CaseIterable, Sendable {
        case digest, missing, shorter, longer, encoding, refused
    }

    /// A source with three documents, the second of which has an attachment that is not what it says.
    private static func source(_ lie: Lie) -> AnsweringPeer {
        let bytes = Array("the bytes".utf8)
        let digest = lie == .digest ? "md5-AAAAAAAAAAAAAAAAAAAAAA==" : "md5-q0jocDd+XZ++EWY5SeIpsA=="
        let file =
            "\"_attachments\":{\"f\":{\"content_type\":\"image/png\",\"revpos\":1,\"digest\":\"\(digest)\",\"length\":9,"
            + "\"stub\":true}}}"
        return .source([("a", "1-a", "\"n\":1}"), ("bad", "1-b", file), ("z", "1-c", "\"n\":2}")]) { call in
            guard call.endpoint == "bad/f" else { return nil }
            switch lie {
            case .digest: return .init(bytes: bytes)
            case .missing: return .init("{\"error\":\"not_found\",\"reason\":\"missing\"}", status: 404)
            case .refused: return .init("{\"error\":\"forbidden\",\"reason\":\"no\"}", status: 403)
            case .shorter: return .init(bytes: Array(bytes.prefix(4)))
            case .longer: return .init(bytes: bytes + bytes)
            case .encoding: return .init(bytes: bytes, headers: [HTTPField("content-encoding", "br")])
            }
        }
    }

    @available(macOS 14, *)
    @Test("They are reported and stop no other document, whatever the target is", arguments: Lie.allCases)
    func lies(_ lie: Lie) async throws {
        let near = try Database(.memory).collection("people")
        let local = LocalPeer(try await near.enableReplication())
        let report = try await Replicator(from: try Self.source(lie).peer(), to: local, .system).runOnce()
        #expect(report.documentsWritten == 2 && report.failures.map(\.id) == ["bad"])
        #expect(try await near.count() == 2)
        try await RemoteReplica.run { replica in
            let far = HTTPPeer(
                RemoteDatabase(
                    try RemoteURL(replica.url), transport: ClientTransport(timeout: 20),
                    retries: RetryPolicy(sleep: { _ in }, random: { 0 })))
            let report = try await Replicator(from: try Self.source(lie).peer(), to: far, .system).runOnce()
            #expect(report.documentsWritten == 2 && report.failures.map(\.id) == ["bad"])
            #expect(report.failures.first?.reason.isEmpty == false)
            #expect(try await replica.far.count() == 2)
        }
    }

    @available(macOS 14, *)
    @Test("An attachment whose bytes are lost stops no other document")
    func damaged() async throws {
        try await RemoteReplica.run { replica in
            let database = try Database(.memory)
            let near = try database.collection("people")
            try await near.save(["a", "bad", "z"].map { ["_id": .string($0)] })
            try await near.attachments(of: "bad").add(Array("the bytes".utf8), name: "f", type: "image/png")
            let local = LocalPeer(try await near.enableReplication())
            try await database.dropCollection("tansu.chunks")
            let far = HTTPPeer(
                RemoteDatabase(
                    try RemoteURL(replica.url), transport: ClientTransport(timeout: 20),
                    retries: RetryPolicy(sleep: { _ in }, random: { 0 })))
            let copy = LocalPeer(try await Database(.memory).collection("copy").enableReplication())
            for target in [far, copy] as [any ReplicationPeer] {
                let report = try await Replicator(from: local, to: target, .system).runOnce()
                #expect(report.documentsWritten == 2 && report.failures.map(\.id) == ["bad"])
            }
        }
    }

    @available(macOS 14, *)
    @Test("Ids, names and media types of any characters go to a server and back as they are")
    func names() async throws {
        try await RemoteReplica.run { replica in
            let ids = [
                "a\r\nX-Evil: 1", "q\"uote", "nul\0x", "\u{7F}", "\u{FEFF}", "\u{FFFF}", "a;b=c", "null", " ",
            ]
            let names = [
                "a\r\nX-Evil: 1", "q\"\\.txt", "\u{1}", "\u{7F}", "..", "a/b", "é", "e\u{301}", " ", ";a=b", "\"",
                String(repeating: "n", count: 20_000),
            ]
            let types = [
                "text/plain\r\nX-Evil: 1", "text/html; charset=\"", "ü", "", " a/b ",
                String(repeating: "t", count: 20_000),
            ]
            try await replica.near.save(ids.map { ["_id": .string($0), "id": .string($0)] })
            for id in ids {
                for (index, name) in names.enumerated() {
                    let type = types[index % types.count]
                    try await replica.near.attachments(of: id).add(
                        Array("\(id)\(name)".utf8), name: name, type: type)
                }
            }
            let pushed = try await replica.replicate(.push)
            #expect(pushed.failures.isEmpty && pushed.documentsWritten == ids.count)
            let back = try Database(.memory).collection("back")
            let copy = RemoteReplica(server: replica.server, near: back, far: replica.far)
            let pulled = try await copy.replicate(.pull)
            #expect(pulled.failures.isEmpty && pulled.documentsWritten == ids.count)
            for id in ids {
                #expect(try await back.get(id)?["id"] == .string(id))
                let files = try await replica.near.attachments(of: id).list()
                let copies = try await back.attachments(of: id).list()
                #expect(files.map(\.name) == copies.map(\.name))
                #expect(files.map(\.contentType) == copies.map(\.contentType))
                for name in names where !files.isEmpty {
                    #expect(try await back.attachments(of: id).bytes(of: name) == Array("\(id)\(name)".utf8))
                }
            }
            // Everything is known at the other side.
            let again = try await replica.replicate(.push)
            #expect(again.missingFound == 0)
        }
    }
}
#endif
