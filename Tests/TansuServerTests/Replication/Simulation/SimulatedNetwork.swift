#if TansuServer
import Foundation
import TansuBSON
import TansuTestSupport

@testable import TansuSync

/// A process was killed in the middle of what it did.
struct Killed: Error {
    let replica: Int
}

/// What happens between the steps of a replication, by a seed: the network fails, others edit, processes are killed.
@available(macOS 14, *)
final class SimulatedNetwork: HTTPTransport, Sendable {
    private let replicas: [SimulatedReplica]
    private let random: Locked<SeededGenerator>
    private let isFaulty: Bool
    /// Edits another replica meanwhile.
    private let edit: @Sendable (inout SeededGenerator) async throws -> Void
    /// The replicas whose process runs the replication, or holds one of its sides.
    private let near: [Int]

    init(
        _ replicas: [SimulatedReplica], near: [Int], seed: UInt64, isFaulty: Bool,
        edit: @escaping @Sendable (inout SeededGenerator) async throws -> Void
    ) {
        self.replicas = replicas
        self.near = near
        random = Locked(SeededGenerator(seed: seed))
        self.isFaulty = isFaulty
        self.edit = edit
    }

    private func roll(_ limit: Int) -> Int { random.withLock { Int.random(in: 0..<limit, using: &$0) } }

    /// Between two steps of the replicator.
    func step() async throws {
        guard isFaulty else { return }
        switch roll(100) {
        case 0..<8:
            var generator = SeededGenerator(seed: random.withLock { $0.next() })
            try await edit(&generator)
        case 8 where !near.isEmpty: throw Killed(replica: near[roll(near.count)])
        default: break
        }
    }

    func send(_ call: HTTPCall) async throws -> TansuSync.HTTPAnswer {
        try await step()
        let (body, type) = try await Self.body(of: call)
        guard let port = URLComponents(string: call.url)?.port, replicas.indices.contains(port - 7_000) else {
            throw RemoteFailure.noAnswer("No server listens there")
        }
        let server = replicas[port - 7_000]
        guard isFaulty else { return try await server.answer(call, body, type) }
        switch roll(100) {
        case 0..<4: throw RemoteFailure.noAnswer("The request is lost")
        case 4..<8:
            _ = try await server.answer(call, body, type)
            throw RemoteFailure.noAnswer("The answer is lost")
        case 8..<12:
            // An earlier copy of the request arrives too.
            _ = try await server.answer(call, body, type)
            try await step()
            return try await server.answer(call, body, type)
        case 12..<17: return cut(try await server.answer(call, body, type), after: roll(2_000))
        case 17, 18:
            return TansuSync.HTTPAnswer(
                status: roll(2) == 0 ? 503 : 429, headers: [HTTPField("retry-after", "3")],
                body: ByteStream { nil })
        case 19, 20:
            if roll(2) == 0 { _ = try await server.answer(call, body, type) }
            try await server.kill()
            throw RemoteFailure.noAnswer("The server was killed")
        default: return try await server.answer(call, body, type)
        }
    }

    private static func body(of call: HTTPCall) async throws -> ([UInt8], String?) {
        switch call.body {
        case .none: return ([], nil)
        case .json(let bytes): return (bytes, "application/json")
        case .stream(let type, _, let make): return (try await make().all(limit: 1 << 24), type)
        }
    }

    private func cut(_ answer: TansuSync.HTTPAnswer, after count: Int) -> TansuSync.HTTPAnswer {
        let left = Locked(count)
        return TansuSync.HTTPAnswer(
            status: answer.status, headers: answer.headers,
            body: ByteStream {
                guard let bytes = try await answer.body.next() else {
                    guard left.withLock({ $0 }) > 0 else {
                        throw RemoteFailure.noAnswer("The answer is cut off")
                    }
                    return nil
                }
                let part = left.withLock { left in
                    defer { left -= min(left, bytes.count) }
                    return bytes.prefix(left)
                }
                guard !part.isEmpty else { throw RemoteFailure.noAnswer("The answer is cut off") }
                return Array(part)
            })
    }
}

/// A collection as a side of a replication in a simulation.
@available(macOS 14, *)
struct SteppedPeer: ReplicationPeer {
    let peer: LocalPeer
    let network: SimulatedNetwork

    private func stepped<Result>(_ body: () async throws -> Result) async throws -> Result {
        try await network.step()
        let result = try await body()
        try await network.step()
        return result
    }

    var identity: String { get async throws { try await peer.identity } }

    func checkpoint(_ id: String) async throws -> ReplicationCheckpoint? {
        try await stepped { try await peer.checkpoint(id) }
    }

    func save(_ checkpoint: ReplicationCheckpoint, as id: String) async throws {
        try await stepped { try await peer.save(checkpoint, as: id) }
    }

    func changes(
        after sequence: PeerSequence?, filter: ReplicationFilter, limit: Int
    ) async throws -> PeerChanges {
        try await stepped { try await peer.changes(after: sequence, filter: filter, limit: limit) }
    }

    func waitForChange(after sequence: PeerSequence?, filter: ReplicationFilter) async throws {
        try await peer.waitForChange(after: sequence, filter: filter)
    }

    func missing(_ revisions: [DocumentRevisions]) async throws -> [MissingRevisions] {
        try await stepped { try await peer.missing(revisions) }
    }

    func fetch(_ wanted: [DocumentRevisions], _ receive: (FetchedRevision) async throws -> Void) async throws {
        try await stepped { try await peer.fetch(wanted, receive) }
    }

    func write(_ revisions: [PeerRevision]) async throws -> [String?] {
        try await stepped { try await peer.write(revisions) }
    }

    func ensureCommit() async throws { try await stepped { try await peer.ensureCommit() } }
}
#endif
