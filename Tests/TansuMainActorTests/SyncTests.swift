#if TansuSync
import Foundation
import Tansu
import TansuSync
import Testing

nonisolated struct Errand: Codable, Sendable, Identifiable {
    var id: String
    var title: String
    var votes = 0
}

@Suite("Replication in a module that is isolated to the main actor")
@MainActor
struct SyncTests {
    @Test("Collections replicate, with a resolver and statuses, and documents are followed")
    func replication() async throws {
        let (here, there) = (try Database(.memory), try Database(.memory))
        let tasks = try here.collection("tasks", of: Errand.self)
        let others = try there.collection("tasks", of: Errand.self)
        let resolver: ConflictResolver = { conflict in
            let votes = [conflict.winner, conflict.other].compactMap { $0.fields["votes"]?.intValue }
            return .merge(["title": "merged", "votes": BSONValue(votes.reduce(0, +))])
        }
        let mine = try await tasks.enableReplication(resolver: resolver)
        let theirs = try await others.enableReplication(resolver: resolver)
        try await tasks.save(Errand(id: "a", title: "mine", votes: 1))
        try await others.save(Errand(id: "a", title: "theirs", votes: 2))
        let replication = try await tasks.replicate(with: others, .both)
        _ = try await replication.wait()
        for await _ in replication.statuses() { break }
        withExtendedLifetime((mine, theirs)) {}
        #expect(try await tasks.get("a")?.votes == 3)
        #expect(try await tasks.conflicts(of: "a").isEmpty)
    }
}
#endif
