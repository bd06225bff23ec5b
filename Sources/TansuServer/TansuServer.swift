#if TansuServer
    import HummingbirdCore
    import Logging
    import NIOCore
    import NIOPosix
    import ServiceLifecycle
    import Tansu

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
        package let context: ServerContext

        private let router: Router
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

        package init(database: Database, options: ServerOptions, moreRoutes: [Route]) {
            self.database = database
            self.options = options
            context = ServerContext(database: database, options: options)
            router = Router(ServerRoutes.all + moreRoutes)
            (listening, reportListening) = AsyncStream.makeStream()
        }

        /// Listens, and answers requests until the service group that it is in shuts down gracefully, or the task is cancelled.
        ///
        /// - Throws: When the address cannot be listened at.
        public func run() async throws {
            let builder = HTTPServerBuilder { [context, router] responder in
                HTTPConnectionChannel(
                    responder: responder, connections: context.connections,
                    limits: ConnectionLimits(context.options.limits), isSecure: false,
                    allowedMethods: router.allowedMethods(of:))
            }
            let server = try builder.buildServer(
                configuration: ServerConfiguration(address: .hostname(options.host, port: options.port)),
                eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
                logger: context.logger
            ) { [context, router] request, writer, channel in
                let response = await Self.respond(to: request, channel, context, router)
                try await writer.write(response: response.head, body: response.body)
            } onServerRunning: { [reportListening] channel in
                reportListening.yield(channel.localAddress?.port ?? 0)
            }
            defer { reportListening.finish() }
            let timeout = options.limits.shutdownTimeout
            try await withThrowingTaskGroup(of: Bool.self) { tasks in
                tasks.addTask {
                    try await server.run()
                    return true
                }
                tasks.addTask { [context] in
                    guard (try? await gracefulShutdown()) != nil else { return false }
                    context.feeds.end()
                    guard (try? await Task.sleep(for: timeout)) != nil else { return false }
                    context.connections.closeAll()
                    return false
                }
                defer { tasks.cancelAll() }
                while let hasEnded = try await tasks.next(), !hasEnded {}
            }
        }

        /// The port that the server listens at, as soon as it does; nil when it has ended.
        package func port() async -> Int? { await listening.first { _ in true } }

        private static func respond(
            to request: Request, _ channel: any Channel, _ context: ServerContext, _ router: Router
        ) async -> Response {
            do {
                let request = try ServerRequest(
                    server: context, request: request, channel: channel, logger: context.logger)
                return await router.respond(to: request)
            } catch {
                return Response(HTTPFailure(rendering: error, logger: context.logger))
            }
        }
    }
#endif
