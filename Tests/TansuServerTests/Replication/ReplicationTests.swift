#if TansuServer
import Foundation
import Tansu
import TansuBSON
import Testing

@testable import TansuServer
@testable import TansuSync

@Suite("Replication: the API of apps")
struct ReplicationTests {
    /// Waits until a condition holds; the time limit of the test ends a wait in vain.
    private static func eventually(_ condition: @Sendable () async throws -> Bool) async throws {
        while try await !condition() { try await Task.sleep(for: .milliseconds(20)) }
    }

    @available(macOS 14, *)
    @Test("Once, both ways", .timeLimit(.minutes(20)))
    func once() async throws {
        try await RemoteReplica.run { replica in
            try await RemoteReplica.fill(replica.near, "near")
            try await RemoteReplica.fill(replica.far, "far")
            let replication = try await replica.near.replicate(with: replica.url)
            let progress = try await replication.wait()
            #expect(progress.documentsWritten == 14 && progress.failedDocuments == 0)
            #expect(replication.status.isEnd)
            let leaves = try await replica.leaves()
            #expect(leaves.near == leaves.far && leaves.near.count == 14)
            // A reader that comes late sees the end.
            var late: [Replication.Status] = []
            for await status in replication.statuses() { late.append(status) }
            #expect(late.count == 1 && late[0].isEnd)
        }
    }

    @available(macOS 14, *)
    @Test(
        "Continuous, both ways: later changes follow, an observed query sees them, stop ends it",
        .timeLimit(.minutes(20)))
    func continuous() async throws {
        try await RemoteReplica.run { replica in
            let replication = try await replica.near.replicate(with: replica.url, .both, .continuous)
            let seen = Locked(0)
            let observation = Task {
                for try await people in replica.near.find([:] as BSONDocument).observe() {
                    seen.withLock { $0 = people.count }
                }
            }
            try await replica.far.save(["_id": "x", "from": "far"])
            try await Self.eventually { seen.withLock { $0 } == 1 }
            try await replica.near.save(["_id": "y", "from": "near"])
            try await Self.eventually { try await replica.far.get("y") != nil }
            _ = try await replica.near.remove(id: "x")
            try await Self.eventually { try await replica.far.get("x") == nil }
            // The server has the removal before this side has its answer.
            for await status in replication.statuses() {
                if case .idle(let progress) = status, progress.documentsWritten == 3 { break }
            }
            await replication.stop()
            guard case .stopped(let progress) = replication.status else {
                Issue.record("After stop it is \(replication.status)")
                return
            }
            #expect(progress.documentsWritten == 3)
            await #expect(throws: CancellationError.self) { _ = try await replication.wait() }
            observation.cancel()
            _ = try? await observation.value
        }
    }

    @available(macOS 14, *)
    @Test("A server that is away makes it offline; it goes on when the server is back", .timeLimit(.minutes(20)))
    func offline() async throws {
        try await RemoteReplica.run { replica in
            let isAway = Locked(true)
            let transport = FaultyTransport(ClientTransport(timeout: 20)) { _, _ in
                isAway.withLock { $0 } ? .noAnswer : nil
            }
            let waits = Locked<[Double]>([])
            let retries = RetryPolicy(
                sleep: { seconds in
                    waits.withLock { $0.append(seconds) }
                    try await Task.sleep(for: .milliseconds(1))
                }, random: { 0 })
            try await replica.near.save(["_id": "x"])
            let near = ReplicationSide.collection(try await replica.near.enableReplication())
            let replication = try Replication(
                near, .url(replica.url), .push, .continuous, transport: transport, retries: retries)
            for await status in replication.statuses() { if case .offline = status { break } }
            // More attempts than one request has: a continuous replication does not end by them.
            try await Self.eventually { waits.withLock { $0.count } > 20 }
            #expect(!replication.status.isEnd)
            #expect(waits.withLock { $0.max() ?? 0 } >= 32)
            isAway.withLock { $0 = false }
            try await Self.eventually { try await replica.far.get("x") != nil }
            for await status in replication.statuses() { if case .idle = status { break } }
            await replication.stop()
        }
    }

    @available(macOS 14, *)
    @Test("What does not work is the last status", .timeLimit(.minutes(20)))
    func failure() async throws {
        try await RemoteReplica.run { replica in
            let missing = replica.url + "_that_are_missing"
            let replication = try await replica.near.replicate(with: missing, .pull, .continuous)
            let error = await #expect(throws: SyncError.self) { _ = try await replication.wait() }
            #expect(error?.code == .noSuchDatabase && error?.description.contains(missing) == true)

            var options = Replication.Options()
            options.createsTarget = true
            try await replica.near.save(["_id": "x"])
            let creating = try await replica.near.replicate(with: missing, .push, options: options)
            let progress = try await creating.wait()
            #expect(progress.documentsWritten == 1)

            for url in [
                "people", "ftp://example.org/a", "http://example.org", "http://example.org/?a=b", "http:///a",
            ] {
                let error = await #expect(throws: SyncError.self) {
                    _ = try await replica.near.replicate(with: url)
                }
                #expect(error?.code == .invalidURL)
            }
            options.filter = .selector(["$what": 1])
            let wrong = options
            let invalid = await #expect(throws: SyncError.self) {
                _ = try await replica.near.replicate(with: replica.url, options: wrong)
            }
            #expect(invalid?.code == .invalidOptions)
        }
    }

    @available(macOS 14, *)
    @Test("From file to file, without HTTP", .timeLimit(.minutes(20)))
    func local() async throws {
        let a = try Database(.memory).collection("a")
        let b = try Database(.memory).collection("b")
        _ = try await (a.enableReplication(), b.enableReplication())
        try await RemoteReplica.fill(a, "a")
        try await RemoteReplica.fill(b, "b")
        let once = try await a.replicate(with: b)
        let progress = try await once.wait()
        #expect(progress.documentsWritten == 14)
        #expect(try await a.count() == b.count())
        let live = try await a.replicate(with: b, .push, .continuous)
        try await a.save(["_id": "later"])
        try await Self.eventually { try await b.get("later") != nil }
        await live.stop()
        await #expect(throws: SyncError.self) { _ = try await a.replicate(with: a) }
    }
}
#endif
