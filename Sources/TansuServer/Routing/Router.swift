#if TansuServer
    import HTTPTypes
    import HummingbirdCore

    /// Finds the route of a request, checks what its user may do, and renders what goes wrong.
    package struct Router: Sendable {
        private let tree: RouteTree

        package init(_ routes: [Route]) { tree = RouteTree(routes) }

        /// What `Allow` says about a path.
        package func allowedMethods(of path: Substring) -> String? {
            let path = path.prefix { $0 != "?" && $0 != "#" }
            return (try? RequestPath(path)).flatMap { tree.match($0.parts)?.route.allow }
        }

        /// The answer of the endpoint of a request.
        ///
        /// - Throws: ``HTTPFailure`` when there is none, or the user may not, and whatever the endpoint throws.
        package func respond(to request: ServerRequest) async throws -> Response {
            guard let match = tree.match(request.path.parts) else { throw HTTPFailure.notFound() }
            var request = request
            request.parameters = match.parameters
            request.rest = match.rest
            let methods = match.route.methods
            let endpoint = methods[request.method] ?? (request.method == .head ? methods[.get] : nil)
            try check(endpoint?.access ?? match.route.access, request)
            if request.path.hasEncodedDesignSlash, request.method == .get || request.method == .head {
                return redirect(request)
            }
            guard let endpoint else { throw HTTPFailure.methodNotAllowed(match.route.allow) }
            return try await endpoint.handler(request)
        }

        /// `/db/_design%2Fx` is at `/db/_design/x`.
        private func redirect(_ request: ServerRequest) -> Response {
            let target = request.head.path ?? "/"
            let path = target.replacing("_design%2F", with: "_design/", maxReplacements: 1)
                .replacing("_design%2f", with: "_design/", maxReplacements: 1)
            return Response(status: .movedPermanently, headers: [.location: request.url(path)])
        }

        /// Databases whose names begin with an underscore, which only these may have.
        private static let systemDatabases: Set = ["_users", "_replicator", "_global_changes"]

        private func check(_ access: Access, _ request: ServerRequest) throws {
            var access = access
            if let name = request.parameters["db"], name.hasPrefix("_") {
                let part = request.path.parts.dropFirst().first
                if !Self.systemDatabases.contains(name) || part == "_all_docs" || part == "_changes" {
                    access = .serverAdmin
                }
            }
            switch access {
            case .everyone:
                return
            case .serverAdmin:
                guard request.user.isServerAdmin else { throw HTTPFailure.unauthorized("You are not a server admin.") }
            case .member:
                try request.server.requireDatabase(request.databaseName)
                try request.security().requireMember(request.user)
            case .databaseAdmin:
                try request.server.requireDatabase(request.databaseName)
                try request.security().requireAdmin(request.user)
            }
        }
    }
#endif
