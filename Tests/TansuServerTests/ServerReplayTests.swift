#if TansuServer
import Tansu
import Testing
@testable import TansuServer

/// The recorded scenarios that change settings of the server.
@Suite(.serialized) struct ServerReplayTests {
    @Test(arguments: ["lockout", "cors"]) @available(macOS 14, *)
    func theServerAnswersAsCouchDB(_ scenario: String) async throws {
        var options = ServerOptions(port: 0)
        options.admins = ["admin": "admin"]
        options.lockout.delay = .zero
        // The scenario switches it on.
        options.lockout.isEnforced = false
        options.passwordIterations = 10
        let results = try await RunningServer.run(options: options) { server in
            let replay = Replay(port: server.port)
            await replay.run(scenario)
            return replay.results
        }
        #expect(results.count == Exchange.scenario(scenario).count)
        for result in results {
            let reason = KnownDifferences.reason(scenario, result.exchange.number)
            #expect(
                result.differences.isEmpty == (reason == nil),
                "\(scenario) \(result.exchange.number) \(result) \(reason ?? "")")
        }
    }
}
#endif
