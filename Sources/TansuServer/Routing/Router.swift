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

        /// The answer to a request; never throws what an endpoint throws.
        package func respond(to request: ServerRequest) async -> Response {
            let response: Response
            do {
                response = try await answer(request)
            } catch {
                response = Response(HTTPFailure(rendering: error, logger: request.logger))
            }
            guard request.method == .head else { return response }
            return Response(status: response.status, headers: response.headers)
        }

        private func answer(_ request: ServerRequest) async throws -> Response {
            guard let match = tree.match(request.path.parts) else { throw HTTPFailure.notFound() }
            var request = request
            request.parameters = match.parameters
            request.rest = match.rest
            let method =
                match.route.methods[request.method]
                ?? (request.method == .head ? match.route.methods[.get] : nil)
            try check(method?.access ?? match.route.access, request)
            guard let method else { throw HTTPFailure.methodNotAllowed(match.route.allow) }
            return try await method.handler(request)
        }

        private func check(_ access: Access, _ request: ServerRequest) throws {
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
