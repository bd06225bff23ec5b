#if TansuSync
import Foundation
import Tansu
import TansuBSON

@testable import TansuSync

/// A database with one replicated collection.
struct Replica {
    let database: Database
    let people: Database.Collection<BSONDocument>
    let replicated: ReplicatedCollection

    init(_ database: Database? = nil) throws {
        self.database = try database ?? Database(.memory)
        people = try self.database.collection("people")
        replicated = try people.enableReplication()
    }

    var peer: LocalPeer { LocalPeer(replicated) }

    /// The leaves of each document that ever was.
    func leaves() throws -> [String: [RevisionTree.Leaf]] {
        try replicated.read { store in
            var leaves: [String: [RevisionTree.Leaf]] = [:]
            let records = try store.documents(includesDeleted: true)
            while let record = try records.read() { leaves[record.id] = record.tree.leaves }
            return leaves
        }
    }

    func documents() throws -> [BSONValue: BSONDocument] {
        Dictionary(
            uniqueKeysWithValues: try people.find([:] as BSONDocument).all().map { ($0["_id"] ?? .null, $0) })
    }

    @discardableResult
    func replicate(
        to target: Replica, _ change: (inout Replicator.Options) -> Void = { _ in }
    ) async throws -> ReplicationReport {
        var options = Replicator.Options.test()
        change(&options)
        return try await Replicator(from: peer, to: target.peer, options).runOnce()
    }
}

extension Replicator.Options {
    /// Without the clock and the random numbers of the system.
    static func test() -> Replicator.Options {
        let runs = sessionCount
        return Replicator.Options(
            now: { Date(timeIntervalSince1970: 1_800_000_000) },
            makeSessionID: {
                runs.withLock { runs in
                    runs += 1
                    return "session-\(runs)"
                }
            })
    }

    private static let sessionCount = Locked(0)
}

/// A peer that notes what it is asked for, and can fail.
struct WatchedPeer: ReplicationPeer {
    struct Failure: Error {}

    struct Counts {
        var checked: [[DocumentRevisions]] = []
        var written = 0
        var checkpoints = 0
        /// The number of writes that succeed; all when nil.
        var writesLeft: Int?
        /// The number of checkpoints that can be saved; all when nil.
        var checkpointsLeft: Int?
    }

    let peer: LocalPeer
    let counts = Locked(Counts())

    var identity: String { get async throws { try await peer.identity } }

    func checkpoint(_ id: String) async throws -> ReplicationCheckpoint? { try await peer.checkpoint(id) }

    func save(_ checkpoint: ReplicationCheckpoint, as id: String) async throws {
        try counts.withLock { counts in
            if counts.checkpointsLeft == 0 { throw Failure() }
            counts.checkpointsLeft = counts.checkpointsLeft.map { $0 - 1 }
            counts.checkpoints += 1
        }
        try await peer.save(checkpoint, as: id)
    }

    func changes(
        after sequence: PeerSequence?, filter: ReplicationFilter, limit: Int
    ) async throws -> PeerChanges { try await peer.changes(after: sequence, filter: filter, limit: limit) }

    func waitForChange(after sequence: PeerSequence?, filter: ReplicationFilter) async throws {
        try await peer.waitForChange(after: sequence, filter: filter)
    }

    func missing(_ revisions: [DocumentRevisions]) async throws -> [MissingRevisions] {
        counts.withLock { $0.checked.append(revisions) }
        return try await peer.missing(revisions)
    }

    func fetch(_ wanted: [DocumentRevisions], _ receive: (FetchedRevision) async throws -> Void) async throws {
        try await peer.fetch(wanted, receive)
    }

    func write(_ revisions: [PeerRevision]) async throws -> [String?] {
        try counts.withLock { counts in
            if counts.writesLeft == 0 { throw Failure() }
            counts.writesLeft = counts.writesLeft.map { $0 - 1 }
            counts.written += revisions.count
        }
        return try await peer.write(revisions)
    }

    func ensureCommit() async throws { try await peer.ensureCommit() }
}
#endif
