#if TansuServer
import Foundation
import Tansu
import Testing

@testable import TansuServer

/// The requests of the recorded scenarios, sent to a server of this library.
@Suite("Answers are those that CouchDB recorded", .serialized)
struct TranscriptTests {
    @Test @available(macOS 14, *) func server() async throws { try await replay("server") }
    @Test @available(macOS 14, *) func session() async throws { try await replay("session") }
    @Test @available(macOS 14, *) func database() async throws { try await replay("database") }
    @Test @available(macOS 14, *) func document() async throws { try await replay("document") }
    @Test @available(macOS 14, *) func conflicts() async throws { try await replay("conflicts") }
    @Test @available(macOS 14, *) func local() async throws { try await replay("local") }
    @Test @available(macOS 14, *) func bulkDocs() async throws { try await replay("bulk_docs") }
    @Test @available(macOS 14, *) func bulkGet() async throws { try await replay("bulk_get") }
    @Test @available(macOS 14, *) func revsDiff() async throws { try await replay("revs_diff") }
    @Test @available(macOS 14, *) func attachments() async throws { try await replay("attachments") }
    @Test @available(macOS 14, *) func allDocs() async throws { try await replay("all_docs") }
    @Test @available(macOS 14, *) func changes() async throws { try await replay("changes") }
    @Test @available(macOS 14, *) func find() async throws { try await replay("find") }
    @Test @available(macOS 14, *) func design() async throws { try await replay("design") }
    @Test @available(macOS 14, *) func copy() async throws { try await replay("copy") }
    @Test @available(macOS 14, *) func input() async throws { try await replay("input") }
    @Test @available(macOS 14, *) func authz() async throws { try await replay("authz") }
    @Test @available(macOS 14, *) func partition() async throws { try await replay("partition") }
    @Test @available(macOS 14, *) func replicate() async throws { try await replay("replicate") }

    /// Replays a scenario and reports each difference that is not a known one, and each known one that is none.
    @available(macOS 14, *)
    private func replay(_ scenario: String) async throws {
        var options = ServerOptions(port: 0)
        options.admins = ["admin": "admin"]
        options.passwordIterations = 10
        options.lockout.delay = .zero
        let database = try Database(.memory)
        for name in ["_users", "_replicator"] { try await database.ensureCollection(name) }
        let results = try await RunningServer.run(database, options: options) { server in
            let replay = Replay(port: server.port)
            await replay.run(scenario)
            return replay.results
        }
        #expect(!results.isEmpty)
        var equal = 0
        for result in results {
            let number = result.exchange.number
            let known = KnownDifferences.reason(scenario, number)
            if result.isEqual == true { equal += 1 }
            switch (result.isEqual, known) {
            case (false, nil):
                Issue.record("\(scenario) \(number): \(result.description)")
            case (true, let reason?):
                Issue.record("\(scenario) \(number) is equal, but listed: \(reason)")
            default: break
            }
        }
        let known = results.filter { $0.exchange.answer != nil }.count
        print("transcripts: \(scenario): \(equal) of \(known) known answers are equal")
    }
}
#endif
