#if TansuServer
import HTTPTypes
import HummingbirdCore
import TansuBSON

/// `/_session`: logging in by cookie, and who one is.
enum SessionEndpoint {
    static let routes = [
        Route(
            "/_session", allow: "GET,HEAD,POST,DELETE", access: .everyone,
            [.get: .init(nil, show), .post: .init(nil, logIn), .delete: .init(nil, logOut)])
    ]

    @Sendable private static func show(_ request: ServerRequest) throws -> Response {
        let user = request.user
        if user.name == nil, request.query["basic"] == "true" { throw HTTPFailure.unauthorized("Please login.") }
        let handlers = request.server.authenticator.handlers.map { BSONValue.string($0) }
        var info: BSONDocument = ["authentication_handlers": BSONValue(handlers)]
        if let authentication = user.authentication { info["authenticated"] = .string(authentication.rawValue) }
        return .json([
            "ok": true,
            "userCtx": .document(["name": user.name.map { .string($0) } ?? .null, "roles": roles(user.roles)]),
            "info": .document(info),
        ])
    }

    @Sendable private static func logIn(_ request: ServerRequest) async throws -> Response {
        let (name, password) = try await credentials(request)
        let authenticator = request.server.authenticator
        do {
            let account = try await authenticator.logIn(name, password, from: request.peer)
            let cookie = authenticator.cookie(for: account)
            return try answer(
                request, redirect: "next", request.sessionCookie(cookie),
                ["ok": true, "name": .string(account.name), "roles": roles(account.roles)])
        } catch let failure as HTTPFailure where failure.status == .unauthorized {
            return try answer(
                request, redirect: "fail", status: .unauthorized, request.sessionCookie(""),
                ["error": .string(failure.error), "reason": .string(failure.reason)])
        }
    }

    @Sendable private static func logOut(_ request: ServerRequest) throws -> Response {
        try answer(request, redirect: "next", request.sessionCookie(""), ["ok": true])
    }

    private static func roles(_ roles: [String]) -> BSONValue { BSONValue(roles.map { .string($0) }) }

    /// - Parameter redirect: The member of the query that names a path of this server to go to.
    private static func answer(
        _ request: ServerRequest, redirect: String, status: HTTPResponse.Status = .ok, _ cookie: String,
        _ body: BSONDocument
    ) throws -> Response {
        var status = status
        var headers: HTTPFields = [.setCookie: cookie]
        if let path = request.query[redirect] {
            guard path.hasPrefix("/"), path.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
                throw HTTPFailure.badRequest("The path to go to must begin with a slash")
            }
            status = .found
            headers[.location] = request.url(path)
        }
        return .json(.document(body), status: status, headers: headers)
    }

    private static let maximumBody = 16 << 10

    private static func credentials(_ request: ServerRequest) async throws -> (name: String, password: String) {
        var members: [BytewiseText: String] = [:]
        switch request.mediaType {
        case "application/json":
            guard case .document(let document) = try await request.json(upTo: maximumBody) else {
                throw HTTPFailure.badRequest("Request body must be a JSON object")
            }
            for (key, value) in document { members[BytewiseText(key)] = value.stringValue }
        case "application/x-www-form-urlencoded":
            let body = try await request.collectedBody(upTo: maximumBody)
            for (name, value) in try QueryParameters(String(buffer: body)).items {
                members[BytewiseText(name)] = value
            }
        default:
            throw HTTPFailure.badContentType(
                "Content-Type must be 'application/x-www-form-urlencoded' or 'application/json'")
        }
        guard let name = members["name"] ?? members["username"] else {
            throw HTTPFailure.badRequest("request body must contain a username")
        }
        return (name, members["password"] ?? "")
    }
}
#endif
