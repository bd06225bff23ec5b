#if TansuServer
    import HTTPTypes
    import HummingbirdCore
    import TansuBSON

    /// Finds the route of a request, checks what its user may do, and renders what goes wrong.
    package struct Router: Sendable {
        private let tree: RouteTree

        package init(_ routes: [Route]) { tree = RouteTree(routes) }

        /// What `Allow` says about a path.
        package func allowedMethods(of path: String) -> String? {
            (try? RequestPath(path.prefixUntil("?").prefixUntil("#"))).flatMap { tree.match($0.parts)?.route.allow }
        }

        /// The answer of the endpoint of a request.
        ///
        /// - Throws: ``HTTPFailure`` when there is none, or the user may not, and whatever the endpoint throws.
        package func respond(to request: ServerRequest) async throws -> Response {
            guard let match = tree.match(request.path.parts) else {
                if let name = request.path.parts.first { try request.server.requireDatabase(name) }
                throw HTTPFailure.notFound()
            }
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

        private func check(_ access: Access, _ request: ServerRequest) throws {
            let name = request.parameters["db"]
            if access == .serverAdmin || name.map({ needsServerAdmin($0, request) }) == true {
                guard request.user.isServerAdmin else {
                    throw HTTPFailure.unauthorized("You are not a server admin.")
                }
            }
            guard let name, access == .member || access == .databaseAdmin else { return }
            try request.server.requireDatabase(name)
            let security = try request.security()
            if access == .member {
                try security.requireMember(request.user)
            } else {
                try security.requireAdmin(request.user)
            }
        }

        /// What CouchDB keeps to server admins, whatever the security object of the database says: what is no database, and
        /// the lists of accounts and replications.
        private func needsServerAdmin(_ name: String, _ request: ServerRequest) -> Bool {
            guard name.hasPrefix("_") else { return false }
            let part = request.path.parts.dropFirst().first
            return !DatabaseName.system.contains(name) || part == "_all_docs" || part == "_changes"
        }
    }
#endif
