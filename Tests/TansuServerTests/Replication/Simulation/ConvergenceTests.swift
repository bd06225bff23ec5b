#if TansuServer
import Foundation
import TansuTestSupport
import Testing

@Suite("Replication: replicas agree after any faults")
struct ConvergenceTests {
    /// The number of seeds is in `TANSU_SIMULATIONS`, the first of them in `TANSU_SEED`.
    @available(macOS 14, *)
    @Test("Replicas that are edited, replicated over a bad network and killed agree in the end")
    func convergence() async throws {
        let count = ProcessInfo.processInfo.environment["TANSU_SIMULATIONS"].flatMap { UInt64($0) } ?? 200
        let first = SeededGenerator.seed()
        let failed = await withTaskGroup(of: UInt64?.self) { group in
            for half in 0..<UInt64(2) {
                group.addTask {
                    for seed in stride(from: first + half, to: first + count, by: 2) {
                        if await Simulation(seed: seed).run() != nil { return seed }
                    }
                    return nil
                }
            }
            return await group.reduce(into: [UInt64]()) { failed, seed in if let seed { failed.append(seed) } }
        }
        for seed in failed {
            let (smallest, fault) = await Simulation(seed: seed).shrunk()
            Issue.record(
                """
                seed \(seed), replicas \(smallest.kinds.map { "\($0)" }), \(smallest.actions.count) actions:
                \(smallest.actions.map { "\($0)" }.joined(separator: "\n"))
                \(fault)
                """)
        }
    }

    @available(macOS 14, *)
    @Test("What a replica lacks is found, and a kill alone is no fault")
    func detection() async throws {
        let folder = try TemporaryFolder()
        let replica = try await SimulatedReplica(0, .file, in: folder.url)
        let other = try await SimulatedReplica(1, .server, in: folder.url)
        defer {
            replica.close()
            other.close()
        }
        var random = SeededGenerator(seed: 7)
        let edits = SimulatedEdits()
        for _ in 0..<20 { try await edits.edit(replica, &random) }
        let expected = edits.oracle.withLock { $0 }
        let faults = try await other.replicated.read { try expected.faults(of: $0, "other") }
        #expect(faults.count == 1 && faults[0].contains("are missing"))
        let own = try await replica.replicated.read { try expected.faults(of: $0, "replica") }
        #expect(own == [])
        let simulation = Simulation(kinds: [.file, .server], actions: [.edit(0, seed: 3), .kill(0)])
        #expect(await simulation.run() == nil)
    }
}
#endif
