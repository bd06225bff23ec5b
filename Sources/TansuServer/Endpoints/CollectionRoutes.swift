#if TansuServer
    /// The routes of databases and documents.
    enum CollectionRoutes {
        static let all: [Route] = routes.map(\.answeringErrors)

        private static let routes: [Route] =
            [DatabaseEndpoint.route, BulkDocsEndpoint.route, BulkGetEndpoint.route, ChangesEndpoint.route]
            + RevisionsDifferenceEndpoint.routes + AllDocsEndpoint.routes + LocalDocsEndpoint.routes
            + SettingsEndpoints.routes + MaintenanceEndpoints.routes + DesignEndpoint.routes
            + FindEndpoint.routes + IndexEndpoint.routes + ReplicateEndpoint.routes + [
                DatabasesInfoEndpoint.route, DocumentEndpoint.route,
            ]
    }
#endif
