#if TansuServer
    import HTTPTypes
    import HummingbirdCore
    import TansuBSON

    /// `/_replicate`: this server does not replicate by itself, others replicate with it.
    enum ReplicateEndpoint {
        static let route = Route("/_replicate", allow: "POST", access: .everyone, [.post: .init(post)])

        private static func post(_ request: ServerRequest) async throws -> Response {
            guard request.user.name != nil || request.user.isServerAdmin else {
                throw HTTPFailure.unauthorized("You are not an authenticated user")
            }
            try request.requireJSONContentType()
            _ = try await request.jsonObject()
            throw HTTPFailure.notImplemented("Start the replication at the other database; this one answers it")
        }
    }
#endif
