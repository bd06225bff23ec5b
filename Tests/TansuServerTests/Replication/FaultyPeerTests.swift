#if TansuServer
import Foundation
import Tansu
import TansuBSON
import Testing

@testable import TansuServer
@testable import TansuSync

@Suite("Replication: what a server must not do, and what it need not have")
struct FaultyPeerTests {
    private typealias Transport = FaultyTransport

    /// Fills both sides, and replicates both ways through a transport.
    @available(macOS 14, *)
    private static func check(
        _ fault: @escaping @Sendable (HTTPCall, Int) -> FaultyTransport.Fault?,
        _ body: @escaping @Sendable (RemoteReplica, FaultyTransport, [Double]) async throws -> Void = { _, _, _ in }
    ) async throws {
        try await RemoteReplica.run { replica in
            try await RemoteReplica.fill(replica.near, "near")
            try await RemoteReplica.fill(replica.far, "far")
            let transport = Transport(ClientTransport(timeout: 20), fault)
            let waits = Locked<[Double]>([])
            let pulled = try await replica.replicate(.pull, through: transport, waits: waits)
            let pushed = try await replica.replicate(.push, through: transport, waits: waits)
            #expect(pulled.writeFailures == 0 && pushed.writeFailures == 0)
            let leaves = try await replica.leaves()
            #expect(leaves.near == leaves.far && leaves.near.count == 14)
            for name in ["near", "far"] {
                let id = "\(name) a/b?c=d&e"
                for file in try await replica.near.attachments(of: id).list() {
                    let bytes = try await replica.near.attachments(of: id).bytes(of: file.name)
                    #expect(try await replica.far.attachments(of: id).bytes(of: file.name) == bytes)
                }
            }
            try await body(replica, transport, waits.withLock { $0 })
        }
    }

    @available(macOS 14, *)
    @Test("A server without _bulk_get is asked for one document after the other", arguments: [404, 405, 501, 400])
    func withoutBulkGet(status: Int) async throws {
        try await Self.check({ call, _ in call.endpoint == "_bulk_get" ? .answer(status) : nil }) {
            _, transport, _ in
            let calls = transport.requests.withLock { $0 }
            #expect(calls.filter { $0.endpoint == "_bulk_get" }.count == 1)
            #expect(calls.filter { $0.url.contains("open_revs") }.count == 7)
        }
    }

    @available(macOS 14, *)
    @Test("A server that keeps no checkpoints", arguments: [403, 405])
    func withoutCheckpoints(status: Int) async throws {
        try await Self.check({ call, _ in call.endpoint.hasPrefix("_local/") ? .answer(status) : nil }) {
            replica, transport, _ in
            let again = try await replica.replicate(.push, through: transport)
            #expect(again.missingChecked > 0 && again.missingFound == 0)
        }
    }

    @available(macOS 14, *)
    @Test("A server without _ensure_full_commit")
    func withoutCommit() async throws {
        try await Self.check { call, _ in call.endpoint == "_ensure_full_commit" ? .answer(404) : nil }
    }

    @available(macOS 14, *)
    @Test(
        "A server that takes small requests only gets smaller ones; what is too large alone stops no other document"
    )
    func tooLarge() async throws {
        try await RemoteReplica.run { replica in
            try await replica.near.save((0..<60).map { ["_id": .string("\($0)"), "n": .int32($0)] })
            let text = String(repeating: "x", count: 5_000)
            try await replica.near.save(["_id": "large", "text": .string(text)])
            let transport = Transport(ClientTransport(timeout: 20)) { call, _ in
                call.jsonSize > 2_000 ? .answer(413) : nil
            }
            // Revisions are asked for in requests of their own size.
            let report = try await replica.replicate(.push, through: transport) { $0.batchSize = 20 }
            #expect(report.documentsWritten == 60 && report.writeFailures == 1)
            #expect(report.failures.map(\.id) == ["large"])
            #expect(try await replica.far.count() == 60)
        }
    }

    @available(macOS 14, *)
    @Test("A server that is busy is asked again when it wants to be")
    func retryAfter() async throws {
        try await Self.check({ _, number in
            switch number {
            case 2: .answer(429, [HTTPField("Retry-After", "7")])
            case 4, 6: .answer(503, [HTTPField("retry-after", "11")])
            case 8: .answer(500)
            default: nil
            }
        }) { _, _, waits in
            #expect(waits.prefix(3) == [7, 11, 11])
            #expect(waits.count == 4 && (0.125...0.25).contains(waits[3]))
        }
    }

    @available(macOS 14, *)
    @Test("Requests and answers that get lost", arguments: 0..<6)
    func lost(seed: Int) async throws {
        try await Self.check { _, number in
            var random = SplitMix(UInt64(seed * 1_000_003 + number))
            switch random.next() % 10 {
            case 0: return .noAnswer
            case 1: return .lostAnswer
            case 2: return .cut(Int(random.next() % 3_000))
            case 3: return .cut(Int(random.next() % 300_000))
            default: return nil
            }
        }
    }

    @available(macOS 14, *)
    @Test("A server that fails for good ends the replication with its error")
    func unreachable() async throws {
        try await RemoteReplica.run { replica in
            try await replica.near.save(["_id": "x"])
            let waits = Locked<[Double]>([])
            let dead = Transport(ClientTransport(timeout: 20)) { _, _ in .noAnswer }
            let failure = await #expect(throws: RemoteFailure.self) {
                let report = try await replica.replicate(.push, through: dead, waits: waits)
                Issue.record("It was replicated: \(report)")
            }
            #expect(failure?.isTransient == true)
            // With the random number 0.5 each wait is three quarters of its greatest length.
            #expect(waits.withLock { $0 } == [0.1875, 0.375, 0.75, 1.5, 3, 6, 12])
            for (status, code) in [
                (401, SyncError.Code.unauthorized), (403, .forbidden), (418, .invalidAnswer),
            ] {
                let refusing = Transport(ClientTransport(timeout: 20)) { call, _ in
                    call.endpoint == "_revs_diff" ? .answer(status) : nil
                }
                let failure = await #expect(throws: RemoteFailure.self) {
                    let report = try await replica.replicate(.push, through: refusing)
                    Issue.record("It was replicated: \(report)")
                }
                #expect(failure.map { SyncError($0).code } == code)
            }
        }
    }

    @available(macOS 14, *)
    @Test(
        "What is no answer of CouchDB is an error",
        arguments: [
            "<html>", "", "{", "[]", "{}", "{\"hello\":\"world\"}", "{\"results\":{}}", "{\"results\":[{}]}",
            "{\"results\":[{\"id\":1}]}",
            "{\"results\":[{\"id\":\"x\",\"changes\":[{\"rev\":\"1-a\"}]}]", "]]]]", "{\"results\":[\"\\ud800\"]}",
        ])
    func nonsense(text: String) async throws {
        try await RemoteReplica.run { replica in
            let transport = Transport(ClientTransport(timeout: 20)) { call, _ in
                call.endpoint == "_changes" ? .answer(200, [], text) : nil
            }
            await #expect(throws: RemoteFailure.self) {
                let report = try await replica.replicate(.pull, through: transport)
                Issue.record("It was replicated: \(report)")
            }
        }
    }

    @available(macOS 14, *)
    @Test("Sequences that are text, arrays and missing in rows")
    func sequences() async throws {
        try await RemoteReplica.run { replica in
            try await replica.far.save(["_id": "x"])
            let revision = try #require(try await replica.far.revision(of: "x"))
            let row = "{\"id\":\"x\",\"changes\":[{\"rev\":\"\(revision)\"}],\"deleted\":false}"
            let transport = Transport(ClientTransport(timeout: 20)) { call, _ in
                guard call.endpoint == "_changes" else { return nil }
                return call.url.contains("since=0")
                    ? .answer(200, [], "{\"results\":[\(row)],\"last_seq\":[7,\"opaque\"]}")
                    : .answer(200, [], "{\"results\":[],\"last_seq\":[7,\"opaque\"]}")
            }
            let report = try await replica.replicate(.pull, through: transport)
            #expect(report.documentsWritten == 1)
            let again = try await replica.replicate(.pull, through: transport)
            #expect(again.missingChecked == 0)
            let since = transport.requests.withLock { $0.last?.url ?? "" }
            #expect(since.contains("since=%5B7%2C%22opaque%22%5D"))
        }
    }

    @available(macOS 14, *)
    @Test("A server that ignores the limit gives pages of a bounded size; one that does not get on is an error")
    func endlessChanges() async throws {
        try await RemoteReplica.run { replica in
            let rows = (1...25_000).map { "{\"seq\":\($0),\"id\":\"x\($0)\",\"changes\":[]}" }
            let requests = Locked(0)
            let all = Transport(ClientTransport(timeout: 20)) { call, _ in
                guard call.endpoint == "_changes" else { return nil }
                requests.withLock { $0 += 1 }
                let since = URLComponents(string: call.url)?.queryItems?.first { $0.name == "since" }?.value
                let rest = rows[(since.flatMap { Int($0) } ?? 0)...]
                return .answer(200, [], "{\"results\":[\(rest.joined(separator: ","))],\"last_seq\":25000}")
            }
            let report = try await replica.replicate(.pull, through: all)
            #expect(report.missingFound == 0 && report.sequence == PeerSequence(.int64(25_000)))
            #expect(requests.withLock { $0 } >= 3)

            let stuck = Transport(ClientTransport(timeout: 20)) { call, _ in
                call.endpoint == "_changes"
                    ? .answer(200, [], "{\"results\":[\(rows[0])],\"last_seq\":1,\"pending\":5}") : nil
            }
            await #expect(throws: RemoteFailure.self) {
                let report = try await replica.replicate(.pull, through: stuck) { $0.filter = .ids([]) }
                Issue.record("It was replicated: \(report)")
            }
        }
    }

    @available(macOS 14, *)
    @Test("Redirects are followed, credentials stay with their server")
    func redirects() async throws {
        var options = ServerOptions(port: 0)
        options.admins = ["anna": "secret"]
        options.lockout.delay = .zero
        try await RemoteReplica.run(options: options) { replica in
            try await replica.near.save(["_id": "x"])
            let elsewhere = Transport(ClientTransport(timeout: 20)) { call, _ in
                guard call.url.contains("127.0.0.1") else { return nil }
                return .answer(
                    308, [HTTPField("location", call.url.replacingOccurrences(of: "127.0.0.1", with: "localhost"))])
            }
            let credentials = RemoteCredentials.basic("anna", password: "secret")
            let failure = await #expect(throws: RemoteFailure.self) {
                let report = try await replica.replicate(.push, through: elsewhere, credentials: credentials)
                Issue.record("The credentials went to another server: \(report)")
            }
            #expect(failure?.status == 401)
            let sent = elsewhere.requests.withLock { requests in
                requests.filter { $0.url.contains("localhost") }.flatMap(\.headers).map(\.name)
            }
            #expect(!sent.isEmpty && !sent.contains("authorization"))

            let circle = Transport(ClientTransport(timeout: 20)) { call, _ in
                .answer(301, [HTTPField("location", call.url)])
            }
            await #expect(throws: RemoteFailure.self) {
                let report = try await replica.replicate(.push, through: circle)
                Issue.record("It was replicated: \(report)")
            }
            #expect(circle.requests.withLock { $0.count } == 6)
        }
    }
}

/// A generator with a seed (Steele, Lea and Flood, 2014).
private struct SplitMix {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
#endif
