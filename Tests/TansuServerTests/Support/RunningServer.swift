#if TansuServer
import Logging
import ServiceLifecycle
import Tansu
@testable import TansuServer

/// A server on a free port, for the time of a test.
@available(macOS 14, *)
struct RunningServer {
    let server: TansuServer
    let port: Int

    /// Runs a server over a database, in memory unless one is given, calls `body`, and stops the server gracefully.
    static func run<Result: Sendable>(
        _ database: Database? = nil, options: ServerOptions = ServerOptions(port: 0), moreRoutes: [Route] = [],
        _ body: @escaping @Sendable (RunningServer) async throws -> Result
    ) async throws -> Result {
        var options = options
        options.port = 0
        let server = TansuServer(
            database: try database ?? Database(.memory), options: options, moreRoutes: moreRoutes)
        let group = ServiceGroup(
            services: [server], logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        return try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            guard let port = await server.port() else {
                try await tasks.waitForAll()
                throw NotListening()
            }
            let result: Swift.Result<Result, any Error>
            do {
                result = .success(try await body(RunningServer(server: server, port: port)))
            } catch {
                result = .failure(error)
            }
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
            return try result.get()
        }
    }

    struct NotListening: Error {}
}
#endif
