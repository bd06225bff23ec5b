#if TansuServer
import Foundation
import Tansu
import TansuBSON

@testable import TansuServer
@testable import TansuSync

/// A collection beside one of a server, and what replicates the two.
@available(macOS 14, *)
struct RemoteReplica: Sendable {
    let server: RunningServer
    let near: Database.Collection<BSONDocument>
    let far: Database.Collection<BSONDocument>
    var url: String { "http://127.0.0.1:\(server.port)/people" }

    /// Runs a server with the collection `people`, and gives it and another database's one.
    static func run(
        options: ServerOptions = ServerOptions(port: 0),
        _ body: @escaping @Sendable (RemoteReplica) async throws -> Void
    ) async throws {
        try await RemoteHost.run(options: options) { host in
            let near = try Database(.memory).collection("people")
            try await near.enableReplication()
            try await body(RemoteReplica(server: host.server, near: near, far: host.far))
        }
    }

    /// Replicates once, through a transport, with waits that take no time.
    func replicate(
        _ direction: Replication.Direction, through transport: (any HTTPTransport)? = nil,
        credentials: RemoteCredentials = .none, waits: Locked<[Double]>? = nil,
        _ change: (inout Replicator.Options) -> Void = { _ in }
    ) async throws -> ReplicationReport {
        let retries = RetryPolicy(
            sleep: { seconds in waits?.withLock { $0.append(seconds) } }, random: { 0.5 })
        let remote = HTTPPeer(
            RemoteDatabase(
                try RemoteURL(url), credentials: credentials,
                transport: transport ?? ClientTransport(timeout: 20), retries: retries))
        let local = LocalPeer(try await near.enableReplication())
        var options = Replicator.Options.system
        change(&options)
        switch direction {
        case .push: return try await Replicator(from: local, to: remote, options).runOnce()
        default: return try await Replicator(from: remote, to: local, options).runOnce()
        }
    }

    /// The leaves of each document that ever was, on both sides.
    func leaves() async throws -> (near: [String: [String]], far: [String: [String]]) {
        (try await Self.leaves(near), try await Self.leaves(far))
    }

    private static func leaves(_ collection: Database.Collection<BSONDocument>) async throws -> [String: [String]] {
        try await collection.enableReplication().read { store in
            var leaves: [String: [String]] = [:]
            let records = try store.documents(includesDeleted: true)
            while let record = try records.read() {
                leaves[record.id] = record.tree.leaves.map { "\($0.revision) \($0.isDeleted)" }
            }
            return leaves
        }
    }

    /// Fills a collection with what is hard to replicate.
    static func fill(_ collection: Database.Collection<BSONDocument>, _ name: String) async throws {
        let ids = ["plain", "a/b?c=d&e", "ü+ %25\u{301}", "日本 \"quoted\"", "..", "%2F"].map { "\(name) \($0)" }
        try await collection.save(
            ids.map { ["_id": .string($0), "from": .string(name), "when": .date(5), "n": .int64(1 << 60)] })
        _ = try await collection.revision(of: ids[0])
        try await collection.save(["_id": .string(ids[0]), "from": .string(name), "edited": true])
        try await collection.save(["_id": .string("\(name) gone")])
        _ = try await collection.revision(of: ids[0])
        _ = try await collection.remove(id: "\(name) gone")
        let text = Array(String(repeating: "text that gzip makes small. ", count: 20_000).utf8)
        let bytes = (0..<600_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 7) }
        let files = collection.attachments(of: ids[1])
        try await files.add(text, name: "dir/täxt \"a\".txt", type: "text/plain")
        try await files.add(bytes, name: "b+c.bin", type: "application/octet-stream")
        try await files.add([UInt8](), name: "empty", type: "image/png")
    }
}
#endif
