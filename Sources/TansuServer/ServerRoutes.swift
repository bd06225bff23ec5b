#if TansuServer
/// All routes of the server.
enum ServerRoutes {
    static let all: [Route] =
        WelcomeEndpoints.routes + UUIDEndpoint.routes + SessionEndpoint.routes + NodeEndpoints.routes
        + DatabaseListEndpoints.routes + CommandEndpoint.routes + InspectorEndpoint.routes + CollectionRoutes.all
        + [ClusterSetupEndpoint.route, DatabaseUpdatesEndpoint.route, SlowCallsEndpoint.route]

    /// Those of the inspector of a database.
    static let inspection: [Route] =
        InspectorEndpoint.routes + [InspectionEndpoint.route, WordsEndpoint.inspectionRoute]
        + [SlowCallsEndpoint.route] + CommandEndpoint.routes
}

/// The routes of databases and documents.
enum CollectionRoutes {
    static let all: [Route] = routes.map(\.answeringErrors)

    private static let routes: [Route] =
        [DatabaseEndpoint.route, BulkDocsEndpoint.route, BulkGetEndpoint.route, ChangesEndpoint.route]
        + RevisionsDifferenceEndpoint.routes + AllDocsEndpoint.routes + LocalDocsEndpoint.routes
        + SettingsEndpoints.routes + MaintenanceEndpoints.routes + DesignEndpoint.routes
        + FindEndpoint.routes + IndexEndpoint.routes + ReplicateEndpoint.routes + [
            DatabasesInfoEndpoint.route, DocumentEndpoint.route, WordsEndpoint.route,
        ]
}
#endif
