#if TansuServer
import Foundation
import Tansu
import TansuBSON
import TansuTestSupport

@testable import TansuSync

/// Replicas that are edited, replicated over a bad network and killed, by a seed, with a clock of its own.
@available(macOS 14, *)
struct Simulation: Sendable {
    /// What happens, with the seed of everything in it: an action does the same when others are left out.
    enum Action: Sendable, CustomStringConvertible {
        case edit(Int, seed: UInt64)
        case replicate(from: Int, to: Int, isRunByTarget: Bool, seed: UInt64)
        case kill(Int)

        var description: String {
            switch self {
            case .edit(let replica, let seed): "edit \(replica) (\(seed))"
            case .replicate(let from, let to, let isRunByTarget, let seed):
                "replicate \(from) to \(to)\(isRunByTarget ? ", run by the target" : "") (\(seed))"
            case .kill(let replica): "kill \(replica)"
            }
        }
    }

    struct Fault: Error, CustomStringConvertible {
        let description: String
    }

    let kinds: [SimulatedReplica.Kind]
    let actions: [Action]
    /// Whether each replica dates its documents.
    let dates: [Bool]

    init(kinds: [SimulatedReplica.Kind], actions: [Action], dates: [Bool] = []) {
        self.kinds = kinds
        self.actions = actions
        self.dates = dates
    }

    init(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let count = Int.random(in: 2...5, using: &random)
        kinds = (0..<count).map { _ in Bool.random(using: &random) ? .file : .server }
        actions = (0..<Int.random(in: 10...40, using: &random)).map { _ in
            let replica = Int.random(in: 0..<count, using: &random)
            let other = (replica + Int.random(in: 1..<count, using: &random)) % count
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<11: return .edit(replica, seed: random.next())
            case 11..<19:
                return .replicate(
                    from: replica, to: other, isRunByTarget: Bool.random(using: &random), seed: random.next())
            default: return .kill(replica)
            }
        }
        dates = kinds.map { _ in Bool.random(using: &random) }
    }

    // MARK: Running

    /// Runs it in files of its own.
    ///
    /// - Returns: What went wrong; nil when all replicas agree in the end.
    func run() async -> String? {
        do {
            let folder = try TemporaryFolder()
            var replicas: [SimulatedReplica] = []
            for (number, kind) in kinds.enumerated() {
                replicas.append(
                    try await SimulatedReplica(
                        number, kind, in: folder.url, isDated: number < dates.count && dates[number]))
            }
            defer { for replica in replicas { replica.close() } }
            try await run(replicas)
            return nil
        } catch { return "\(error)" }
    }

    private func run(_ replicas: [SimulatedReplica]) async throws {
        let edits = SimulatedEdits()
        for action in actions {
            switch action {
            case .edit(let number, let seed):
                var random = SeededGenerator(seed: seed)
                try await edits.edit(replicas[number], &random)
            case .replicate(let from, let to, let isRunByTarget, let seed):
                try await replicate(replicas, edits, from, to, isRunByTarget, seed, isFaulty: true)
            case .kill(let number): try await kill(replicas[number])
            }
        }
        try await heal(replicas, edits)
        var faults: [String] = []
        for replica in replicas {
            let oracle = edits.oracle
            faults += try await replica.replicated.read { store in
                try oracle.withLock { try $0.faults(of: store, "replica \(replica.number)") }
            }
            faults += try await documentFaults(of: replica, edits)
        }
        guard faults.isEmpty else { throw Fault(description: faults.joined(separator: "\n")) }
    }

    /// Whether the collection has the winners, and no document that is deleted.
    private func documentFaults(of replica: SimulatedReplica, _ edits: SimulatedEdits) async throws -> [String] {
        var faults: [String] = []
        for (id, tree) in edits.oracle.withLock({ $0.trees }) {
            let document = try await replica.people.get(id)
            if (document == nil) != tree.isDeleted {
                faults.append("replica \(replica.number): \(id) is \(document == nil ? "not there" : "there")")
            }
            guard var fields = document, let winner = tree.winner else { continue }
            fields["_id"] = nil
            if fields != edits.oracle.withLock({ $0.contents["\(id) \(winner.revision)"]?.fields }) {
                faults.append("replica \(replica.number): \(id) is not its winner: \(fields)")
            }
            let files = replica.people.attachments(of: id)
            for file in try await files.list() {
                if try await files.bytes(of: file.name).count != Int(file.length) {
                    faults.append("replica \(replica.number): \(id) has lost bytes of \(file.name)")
                }
            }
        }
        return faults
    }

    /// Kills a replica, which must have all that it had.
    private func kill(_ replica: SimulatedReplica) async throws {
        let before = try await SimulatedEdits.state(of: replica)
        try await replica.kill()
        let after = try await SimulatedEdits.state(of: replica)
        guard before == after else {
            throw Fault(description: "replica \(replica.number) had \(before), and after the kill \(after)")
        }
    }

    /// Replicates in a ring, without faults, until nothing is written any more. Nobody writes in answer to a write: the update sequences
    /// count what is replicated, and each replica gets each leaf once at most.
    private func heal(_ replicas: [SimulatedReplica], _ edits: SimulatedEdits) async throws {
        let before = try await sequences(of: replicas)
        // A replica may also have one that is no leaf at another, and pass it on.
        var leaves: Set<String> = []
        for replica in replicas {
            for (id, revisions) in try await SimulatedEdits.state(of: replica) {
                leaves.formUnion(revisions.map { "\(id) \($0)" })
            }
        }
        var total = 0
        for round in 0... {
            var written = 0
            for from in replicas.indices {
                for to in [(from + 1) % replicas.count, (from + replicas.count - 1) % replicas.count] {
                    written += try await replicate(
                        replicas, edits, from, to, round % 2 == 0, UInt64(round), isFaulty: false)
                }
            }
            total += written
            let answers = try await sequences(of: replicas) - before - Int64(total)
            guard answers <= 0, total <= leaves.count * replicas.count else {
                throw Fault(
                    description:
                        "\(total) revisions of \(leaves.count) leaves were written, and \(answers) in answer to that")
            }
            if written == 0 { return }
            guard round <= replicas.count * 3 else {
                throw Fault(description: "The replicas do not come to rest")
            }
        }
    }

    private func sequences(of replicas: [SimulatedReplica]) async throws -> Int64 {
        var sum: Int64 = 0
        for replica in replicas { sum += try await replica.replicated.read { $0.info().updateSequence } }
        return sum
    }

    @discardableResult
    private func replicate(
        _ replicas: [SimulatedReplica], _ edits: SimulatedEdits, _ from: Int, _ to: Int, _ isRunByTarget: Bool,
        _ seed: UInt64, isFaulty: Bool
    ) async throws -> Int {
        var random = SeededGenerator(seed: seed)
        let clock = Locked(1_800_000_000.0)
        let runner = isRunByTarget ? to : from
        // Who is not a server is in the process that replicates.
        let near = [from, to].filter { replicas[$0].kind == .file || $0 == runner }
        let network = SimulatedNetwork(replicas, near: near, seed: random.next(), isFaulty: isFaulty) { random in
            let replica = replicas[Int.random(in: 0..<replicas.count, using: &random)]
            try await edits.edit(replica, &random)
        }
        let unit = Locked(SeededGenerator(seed: random.next()))
        let retries = RetryPolicy(
            sleep: { seconds in clock.withLock { $0 += seconds } },
            random: { unit.withLock { Double.random(in: 0..<1, using: &$0) } })
        func peer(_ number: Int) throws -> any ReplicationPeer {
            let replica = replicas[number]
            if near.contains(number) { return SteppedPeer(peer: LocalPeer(replica.replicated), network: network) }
            return HTTPPeer(
                RemoteDatabase(try RemoteURL(replica.url), transport: network, retries: retries))
        }
        let session = String(seed, radix: 16)
        var options = Replicator.Options(
            now: { clock.withLock { Date(timeIntervalSince1970: $0) } }, makeSessionID: { session })
        options.batchSize = Int.random(in: 1...6, using: &random)
        do {
            let report = try await Replicator(from: peer(from), to: peer(to), options).runOnce()
            guard report.writeFailures == 0 || isFaulty else {
                throw Fault(description: "Revisions were refused: \(report.failures)")
            }
            return report.documentsWritten
        } catch let killed as Killed {
            try await kill(replicas[killed.replica])
        } catch let failure as RemoteFailure where failure.isTransient && isFaulty {
            // The network was too bad.
        }
        return 0
    }

    // MARK: Shrinking

    /// The smallest part of it that still fails, as far as leaving out parts finds it.
    func shrunk() async -> (simulation: Simulation, fault: String) {
        var best = self
        var fault = await run() ?? "It does not fail again"
        var size = max(actions.count / 2, 1)
        while true {
            var start = 0
            while start < best.actions.count {
                var rest = best.actions
                rest.removeSubrange(start..<min(start + size, rest.count))
                let smaller = Simulation(kinds: kinds, actions: rest, dates: dates)
                if let found = await smaller.run() {
                    (best, fault) = (smaller, found)
                } else {
                    start += size
                }
            }
            if size == 1 { return (best, fault) }
            size /= 2
        }
    }
}
#endif
