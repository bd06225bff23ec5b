#if TansuServer
import HTTPTypes
import HummingbirdCore
import HummingbirdTLS
import Logging
import NIOCore
import NIOPosix
import NIOSSL
import ServiceLifecycle
import Tansu
import TansuBSON
import TansuSync

/// The HTTP API of CouchDB for the collections of a database, as a service.
///
/// For example:
///
///     let server = TansuServer(database: database, options: ServerOptions(port: 5984))
///     try await server.run()
@available(macOS 14, *)
public final class TansuServer: Service {
    /// The database that it serves.
    public let database: Database
    /// How it was set up.
    public let options: ServerOptions

    private let moreRoutes: [Route]
    private let inspection: Inspection?
    private let running = Locked<ServerContext?>(nil)
    private let listening: AsyncStream<Int>
    private let reportListening: AsyncStream<Int>.Continuation

    /// Creates a server, which does not listen before ``run()``.
    ///
    /// - Parameters:
    ///   - database: The database that it serves.
    ///   - options: How it listens, whom it lets in, and its limits.
    public convenience init(database: Database, options: ServerOptions = ServerOptions()) {
        self.init(database: database, options: options, moreRoutes: [])
    }

    init(database: Database, options: ServerOptions, moreRoutes: [Route], inspection: Inspection? = nil) {
        self.database = database
        self.options = options
        self.moreRoutes = moreRoutes
        self.inspection = inspection
        (listening, reportListening) = AsyncStream.makeStream()
    }

    /// Listens, and answers requests until the service group that it is in shuts down gracefully, or the task is cancelled.
    ///
    /// - Throws: ``ServerError`` when it cannot start, `TansuError` when the database cannot be written.
    public func run() async throws {
        defer { reportListening.finish() }
        try options.validate()
        try checkUsers()
        let context = try await ServerContext(database: database, options: options, inspection: inspection)
        running.withLock { $0 = context }
        let router = Router((inspection == nil ? ServerRoutes.all : ServerRoutes.inspection) + moreRoutes)
        let responder = RequestResponder(server: context, router: router)
        let server = try builder(context, router).buildServer(
            configuration: ServerConfiguration(address: .hostname(options.host, port: options.port)),
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            logger: context.logger
        ) { request, writer, channel in
            guard !context.isShort(request.head) else {
                let response = await responder.respond(to: request, channel)
                return try await writer.write(response: response.head, body: response.body)
            }
            var writer: ResponseWriter? = writer
            try await ConnectionTasks.runAside {
                let response = await responder.respond(to: request, channel)
                try await writer.take()?.write(response: response.head, body: response.body)
            }
        } onServerRunning: { [reportListening] channel in
            reportListening.yield(channel.localAddress?.port ?? 0)
        }
        do {
            try await run(server, context)
        } catch let error as IOError {
            throw ServerError(.cannotListen, "Cannot listen at \(options.host):\(options.port): \(error.words)")
        } catch let error as SocketAddressError.UnknownHost {
            throw ServerError(.cannotListen, "Cannot listen at \(error.host): there is no such address")
        }
    }

    /// Runs until the process gets SIGTERM or SIGINT (Ctrl-C), which shut the server down gracefully.
    ///
    /// - Throws: As ``run()``.
    public func runUntilSignal() async throws {
        let group = ServiceGroup(
            configuration: .init(
                services: [.init(service: self, failureTerminationBehavior: .cancelGroup)],
                gracefulShutdownSignals: [.sigterm, .sigint],
                logger: options.logger ?? Logger(label: "tansu.server") { _ in SwiftLogNoOpLogHandler() }))
        try await group.run()
    }

    /// The port that the server listens at, as soon as it does; nil when it has ended. To be asked for once.
    public func port() async -> Int? { await listening.first { _ in true } }

    /// What the requests share, while the server runs.
    var context: ServerContext? { running.withLock { $0 } }

    private func checkUsers() throws {
        guard !options.isLoopback, options.jsonWebKeys == nil,
            try !Accounts.exist(in: database, admins: options.admins)
        else { return }
        throw ServerError(
            .needsUsers,
            "The address \"\(options.host)\" can be reached from other machines, and the server has no users who could log in"
        )
    }

    private func builder(_ context: ServerContext, _ router: Router) throws -> HTTPServerBuilder {
        let isSecure = options.tls != nil
        let plain = HTTPServerBuilder { responder in
            HTTPConnectionChannel(
                responder: responder, connections: context.connections,
                limits: ConnectionLimits(context.options.limits), isSecure: isSecure,
                allowedMethods: router.allowedMethods(of:))
        }
        guard let tls = options.tls else { return plain }
        return try .tls(plain, tlsConfiguration: tls.configuration())
    }

    /// How long a database without requests stays open.
    private static let unusedTime: Duration = .seconds(60)

    /// Runs until a graceful shutdown has ended: no new connections, what has begun is finished, feeds end, and what
    /// is not finished in time is cut off.
    private func run(_ server: any Service, _ context: ServerContext) async throws {
        let timeout = options.limits.shutdownTimeout
        try await withThrowingTaskGroup(of: Bool.self) { tasks in
            tasks.addTask {
                try await server.run()
                return true
            }
            tasks.addTask {
                while (try? await Task.sleep(for: Self.unusedTime)) != nil {
                    context.collections.closeUnused(for: Self.unusedTime)
                    context.updates.tidy()
                }
                return false
            }
            tasks.addTask {
                guard (try? await gracefulShutdown()) != nil else { return false }
                context.feeds.end()
                await context.replications.end()
                guard (try? await Task.sleep(for: timeout)) != nil else { return false }
                context.connections.closeAll()
                return false
            }
            defer { tasks.cancelAll() }
            while let hasEnded = try await tasks.next(), !hasEnded {}
        }
    }
}
#endif
