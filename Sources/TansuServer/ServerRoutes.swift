#if TansuServer
    /// All routes of the server.
    enum ServerRoutes {
        static let all: [Route] =
            WelcomeEndpoints.routes + UUIDEndpoint.routes + SessionEndpoint.routes + NodeEndpoints.routes
            + DatabaseListEndpoints.routes + [DatabaseUpdatesEndpoint.route] + InspectorEndpoint.routes
            + CollectionRoutes.all
    }
#endif
