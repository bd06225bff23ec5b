#if TansuServer
    /// All routes of the server.
    enum ServerRoutes {
        static let all: [Route] = [WelcomeEndpoint.route]
    }
#endif
