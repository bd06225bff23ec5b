#if TansuServer
import Foundation
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import TansuBSON

/// What a request needs the right for.
enum Access: Sendable {
    /// No right.
    case everyone
    /// To read and write documents of the database that `:db` names, which must exist.
    case member
    /// To manage the database that `:db` names, which must exist.
    case databaseAdmin
    /// To manage the server. It comes before the question whether the database exists.
    case serverAdmin
}

/// A path with what answers its methods.
struct Route: Sendable {
    typealias Handler = @Sendable (ServerRequest) async throws -> Response

    struct Endpoint: Sendable {
        let access: Access?
        let handler: Handler

        /// - Parameter access: That of the route when nil.
        init(_ access: Access? = nil, _ handler: @escaping Handler) {
            self.access = access
            self.handler = handler
        }
    }

    /// Parts between slashes: text, `:name` for any part, and a `*` at the end for one or more parts.
    let pattern: String
    /// What the header `Allow` says about other methods, in CouchDB's order.
    let allow: String
    let access: Access
    let methods: [HTTPRequest.Method: Endpoint]

    /// GET answers HEAD as well, without the body.
    init(
        _ pattern: String, allow: String, access: Access = .member, _ methods: [HTTPRequest.Method: Endpoint]
    ) {
        self.pattern = pattern
        self.allow = allow
        self.access = access
        self.methods = methods
    }
}

/// Routes by the parts of their patterns. Text goes before `:name`, and that before `*`.
struct RouteTree: Sendable {
    struct Match {
        let route: Route
        let parameters: [BytewiseText: String]
        let rest: [String]
    }

    private struct Node {
        var route: Int?
        var restRoute: Int?
        var texts: [BytewiseText: Int] = [:]
        var parameter: (name: BytewiseText, node: Int)?
    }

    private var nodes = [Node()]
    private var routes: [Route] = []

    init(_ routes: [Route]) {
        for route in routes { add(route) }
    }

    private mutating func add(_ route: Route) {
        routes.append(route)
        var node = 0
        for part in route.pattern.parts(separatedBy: "/", omittingEmpty: true) {
            if part == "*" {
                nodes[node].restRoute = routes.count - 1
                return
            }
            node = child(of: node, part)
        }
        nodes[node].route = routes.count - 1
    }

    private mutating func child(of node: Int, _ part: String) -> Int {
        if let name = part.dropping(prefix: ":") {
            if let parameter = nodes[node].parameter { return parameter.node }
            nodes.append(Node())
            nodes[node].parameter = (BytewiseText(name), nodes.count - 1)
        } else {
            if let child = nodes[node].texts[BytewiseText(part)] { return child }
            nodes.append(Node())
            nodes[node].texts[BytewiseText(part)] = nodes.count - 1
        }
        return nodes.count - 1
    }

    func match(_ parts: [String]) -> Match? {
        var parameters: [BytewiseText: String] = [:]
        var rest: [String] = []
        guard let route = find(parts[...], in: nodes[0], &parameters, &rest) else { return nil }
        return Match(route: routes[route], parameters: parameters, rest: rest)
    }

    private func find(
        _ parts: ArraySlice<String>, in node: Node, _ parameters: inout [BytewiseText: String],
        _ rest: inout [String]
    ) -> Int? {
        guard let part = parts.first else { return node.route }
        if let child = node.texts[BytewiseText(part)],
            let route = find(parts.dropFirst(), in: nodes[child], &parameters, &rest)
        {
            return route
        }
        if let (name, child) = node.parameter,
            let route = find(parts.dropFirst(), in: nodes[child], &parameters, &rest)
        {
            parameters[name] = part
            return route
        }
        if let route = node.restRoute {
            rest = Array(parts)
            return route
        }
        return nil
    }
}

/// Finds the route of a request, checks what its user may do, and renders what goes wrong.
struct Router: Sendable {
    private let tree: RouteTree

    init(_ routes: [Route]) { tree = RouteTree(routes) }

    /// What `Allow` says about a path.
    func allowedMethods(of path: String) -> String? {
        (try? RequestPath(path.prefixUntil("?").prefixUntil("#"))).flatMap { tree.match($0.parts)?.route.allow }
    }

    /// The answer of the endpoint of a request.
    ///
    /// - Throws: ``HTTPFailure`` when there is none, or the user may not, and whatever the endpoint throws.
    func respond(to request: ServerRequest) async throws -> Response {
        guard let match = tree.match(request.path.parts) else {
            if request.server.inspection == nil, let name = request.path.parts.first {
                try request.server.requireDatabase(name)
            }
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
        guard let trace = RequestTrace(request, match.route) else { return try await endpoint.handler(request) }
        return try await trace.record { [request] in try await endpoint.handler(request) }
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

/// Answers a request from its head to the head of its answer: who makes it, whether other origins may, what its route says,
/// the fields that all answers have, log and counters.
struct RequestResponder: Sendable {
    let server: ServerContext
    let router: Router
    private let date = DateField()

    init(server: ServerContext, router: Router) {
        self.server = server
        self.router = router
    }

    func respond(to request: Request, _ channel: any Channel) async -> Response {
        let start = ContinuousClock.now
        var user = UserContext.anonymous
        var response: Response
        do {
            let request = try ServerRequest(
                server: server, request: request, channel: channel, logger: server.logger)
            response = await answer(request, &user)
        } catch {
            response = Response(HTTPFailure(rendering: error, logger: server.logger))
        }
        response.headers[.date] = date.text
        response.headers[.server] = "Tansu"
        let duration = ContinuousClock.now - start
        server.metrics.record(request.method, response.status, duration)
        log(request, response, user, duration, channel)
        return response
    }

    private func answer(_ request: ServerRequest, _ user: inout UserContext) async -> Response {
        let crossOrigin = CrossOrigin(request)
        if let preflight = crossOrigin?.preflight(request) { return preflight }
        var request = request
        var response: Response
        do {
            try checkHost(request)
            let fields = request.head.headerFields
            let result =
                if let inspection = server.inspection {
                    Authenticator.Result(user: inspection.user(fields))
                } else {
                    try await server.authenticator.authenticate(fields, from: request.peer)
                }
            user = result.user
            request.user = user
            try checkUser(request)
            response = try await router.respond(to: request)
            if let cookie = result.renewedCookie, !response.headers.contains(.setCookie) {
                response.headers[.setCookie] = request.sessionCookie(cookie)
            }
        } catch {
            response = Response(HTTPFailure(rendering: error, logger: request.logger))
        }
        if response.status == .unauthorized, let challenge = server.settings.challenge {
            response.headers[.wwwAuthenticate] = challenge
        }
        if request.method == .head {
            let length = response.headers[.contentLength]
            response = Response(status: response.status, headers: response.headers)
            // Of an answer that is streamed to GET the length is not known, so it is not 0.
            response.headers[.contentLength] = length
            // POST that an override made HEAD has a body, which is empty.
            if request.head.method != .head { response.headers[.contentLength] = "0" }
        }
        crossOrigin?.add(to: &response.headers)
        return response
    }

    /// Where users are required somebody unknown may only log in.
    private func checkUser(_ request: ServerRequest) throws {
        guard request.user.name == nil, !request.user.isServerAdmin, server.settings.requiresUser else { return }
        if request.method == .post, request.path.parts == ["_session"] { return }
        throw HTTPFailure.unauthorized("Authentication required.")
    }

    /// A server that lets everyone in does so only under the names of this machine: a page in a browser can make a name of its
    /// own point to this machine, and would then count as a page of the server.
    private func checkHost(_ request: ServerRequest) throws {
        guard server.authenticator.isOpen || server.inspection != nil, let authority = request.head.authority else {
            return
        }
        let host = authority.dropping(prefix: "[")?.prefixUntil("]") ?? authority.prefixUntil(":")
        guard ServerOptions(host: host.asciiLowercased).isLoopback else {
            let what = server.inspection == nil ? "A server without users" : "The inspector of a database"
            throw HTTPFailure.forbidden("\(what) answers only to the names of this machine")
        }
    }

    private func log(
        _ request: Request, _ response: Response, _ user: UserContext, _ duration: Duration, _ channel: any Channel
    ) {
        server.logger.info(
            "\(request.method.rawValue) \(request.uri.path) \(response.status.code)",
            metadata: [
                "peer": "\(channel.remoteAddress?.ipAddress ?? "-")", "user": "\(user.name ?? "-")",
                "duration": "\(duration)",
            ])
    }
}

/// The text of the header field `Date`, which is made once a second.
final class DateField: Sendable {
    private let current = Locked((second: 0, text: ""))

    var text: String {
        let now = Date()
        let second = Int(now.timeIntervalSince1970)
        return current.withLock { current in
            if current.second != second { current = (second, HTTPDate.text(now)) }
            return current.text
        }
    }
}

/// The header fields that let pages of other origins use the server.
struct CrossOrigin: Sendable {
    let options: CrossOriginOptions
    let origin: String

    /// Nil when the request is of no other origin, or of one that is refused.
    init?(_ request: ServerRequest) {
        guard let options = request.server.settings.cors, let origin = request[.origin],
            options.origins.contains("*") || options.origins.contains(origin)
        else { return nil }
        self.options = options
        self.origin = origin
    }

    /// The answer to a browser that asks whether it may make a request; nil when it did not ask so, or may not.
    func preflight(_ request: ServerRequest) -> Response? {
        guard request.method == .options, let method = request[.accessControlRequestMethod],
            options.methods.contains(method)
        else { return nil }
        let headers = request[.accessControlRequestHeaders] ?? ""
        let names = headers.parts(separatedBy: ",", omittingEmpty: true).map { $0.trimmingSpaces.asciiLowercased }
        let allowed = options.headers.map { $0.asciiLowercased }
        guard names.allSatisfy({ allowed.contains($0) }) else { return nil }
        var fields = HTTPFields()
        addOrigin(&fields)
        fields[.accessControlAllowMethods] = options.methods.joined(separator: ", ")
        if !headers.isEmpty { fields[.accessControlAllowHeaders] = headers }
        fields[.accessControlMaxAge] = "600"
        return Response(status: .noContent, headers: fields)
    }

    /// Adds what lets the page read an answer.
    func add(to fields: inout HTTPFields) {
        addOrigin(&fields)
        let present = [HTTPField.Name.contentType, .cacheControl].filter { fields.contains($0) }
            .map(\.canonicalName)
        let others = [
            "accept-ranges", "etag", "server", "x-couch-request-id", "x-couch-update-newrev", "x-couchdb-body-time",
        ]
        fields[.accessControlExposeHeaders] = (present + others).joined(separator: ", ")
    }

    private func addOrigin(_ fields: inout HTTPFields) {
        fields[.accessControlAllowOrigin] = origin
        // A cache must not give the answer to another origin.
        fields[.vary] = "Origin"
        if options.allowsCredentials { fields[.accessControlAllowCredentials] = "true" }
    }
}
#endif
