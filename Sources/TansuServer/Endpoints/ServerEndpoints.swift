#if TansuServer
import HTTPTypes
import HummingbirdCore
import NIOCore
import Tansu
import TansuBSON

/// `/`, `/_up`, `/_membership` and the like: what the server is and whether it runs.
enum WelcomeEndpoints {
    static let routes = [
        Route("/", allow: "GET,HEAD", access: .everyone, [.get: .init(nil, welcome)]),
        Route("/_up", allow: "GET,HEAD", access: .everyone, [.get: .init(nil, up)]),
        Route("/favicon.ico", allow: "GET,HEAD", access: .everyone, [.get: .init(nil, icon)]),
        Route("/_membership", allow: "GET,HEAD", access: .serverAdmin, [.get: .init(nil, membership)]),
        Route("/_scheduler/docs", allow: "GET,HEAD", access: .serverAdmin, [.get: .init(nil, noDocuments)]),
        Route("/_metrics", allow: "GET,HEAD", access: .serverAdmin, [.get: .init(nil, metrics)]),
    ]

    /// The version is that of the API, which clients look at.
    @Sendable private static func welcome(_ request: ServerRequest) -> Response {
        .json([
            "couchdb": "Welcome", "version": "3.5.0", "git_sha": "tansu", "uuid": .string(request.server.uuid),
            "features": .array(["scheduler"]),
            "vendor": .document(["name": "Tansu", "version": .string(Database.engineVersion)]),
        ])
    }

    @Sendable private static func up(_ request: ServerRequest) throws -> Response {
        // A closed database, or one whose files are gone, is not up.
        _ = try request.database.collection("tansu.server").get("identity")
        return .json(text: #"{"status":"ok","seeds":{}}"#)
    }

    @Sendable private static func icon(_ request: ServerRequest) -> Response {
        let headers: HTTPFields = [.contentType: "text/plain", .cacheControl: "public, max-age=31536000"]
        return Response(
            status: .notFound, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(string: "Not found.")))
    }

    /// The server is a cluster of one.
    @Sendable private static func membership(_ request: ServerRequest) -> Response {
        let nodes = BSONValue.array([.string(NodeEndpoints.node)])
        return .json(["all_nodes": nodes, "cluster_nodes": nodes])
    }

    @Sendable private static func noDocuments(_ request: ServerRequest) -> Response {
        .json(text: #"{"total_rows":0,"offset":0,"docs":[]}"#)
    }

    @Sendable private static func metrics(_ request: ServerRequest) -> Response {
        let server = request.server
        let text = server.metrics.text(gauges: [
            ("tansu_server_connections", "Open connections.", server.connections.count),
            ("tansu_server_feeds", "Open feeds.", server.feeds.count),
        ])
        return Response(
            status: .ok, headers: [.contentType: "text/plain; version=0.0.4", .cacheControl: "no-cache"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
}

/// `/_all_dbs`: which databases there are.
enum DatabaseListEndpoints {
    static let routes = [
        Route("/_all_dbs", allow: "GET,HEAD", access: .serverAdmin, [.get: .init(nil, names)])
    ]

    @Sendable private static func names(_ request: ServerRequest) throws -> Response {
        let names = try selected(request.server.databaseNames(), request.query)
        let text = BSONValue(names.map { .string($0) }).extendedJSON() + "\n"
        let tag = "\"\(hex(hmac(text, key: [])).prefix(25))\""
        let headers = HTTPFields.json.merging([.eTag: tag])
        if request.hasCurrent(tag) { return Response(status: .notModified, headers: headers) }
        return .streamed(headers: headers) { stream in try await stream.write(text) }
    }

    /// The names that a query asks for: `startkey` to `endkey`, both included, of the sorted ones.
    static func selected(_ names: [String], _ query: QueryParameters) throws -> [String] {
        let isDescending = try query.bool("descending") ?? false
        func key(_ names: [String]) throws -> BSONValue? {
            guard let name = names.first(where: query.contains) else { return nil }
            return try query.json(name)
        }
        // A key that is no text comes before every name.
        let first = try key(["startkey", "start_key", "key"]).map { $0.stringValue ?? "" }
        let last = try key(["endkey", "end_key", "key"]).map { $0.stringValue ?? "" }
        let includesLast = try query.bool("inclusive_end") ?? true
        let limit = try query.positiveInteger("limit")
        let skip = try query.positiveInteger("skip") ?? 0
        func isBefore(_ a: String, _ b: String) -> Bool {
            isDescending ? b.utf8.lexicographicallyPrecedes(a.utf8) : a.utf8.lexicographicallyPrecedes(b.utf8)
        }
        let found = names.sorted(by: isBefore).filter { name in
            if let first, isBefore(name, first) { return false }
            if let last { return isBefore(name, last) || (includesLast && name == last) }
            return true
        }
        return Array(found.dropFirst(skip).prefix(limit ?? .max))
    }
}

/// `/_node/…`: the settings of the server, which is the only node of its cluster.
enum NodeEndpoints {
    /// The name of the node; clients also call it `_local`.
    static let node = "couchdb@127.0.0.1"

    static let routes = [
        Route("/_node/:node", allow: "GET", access: .serverAdmin, [.get: .init(nil, name)]),
        Route("/_node/:node/_versions", allow: "GET", access: .serverAdmin, [.get: .init(nil, versions)]),
        Route("/_node/:node/_config", allow: "GET", access: .serverAdmin, [.get: .init(nil, settings)]),
        Route("/_node/:node/_config/:section", allow: "GET", access: .serverAdmin, [.get: .init(nil, section)]),
        Route(
            "/_node/:node/_config/:section/:key", allow: "GET,PUT,DELETE", access: .serverAdmin,
            [.get: .init(nil, setting), .put: .init(nil, set), .delete: .init(nil, remove)]),
    ]

    private static func check(_ request: ServerRequest) throws {
        let name = request.parameters["node"] ?? ""
        guard name == "_local" || name == node else { throw HTTPFailure.notFound("no such node: \(name)") }
    }

    @Sendable private static func name(_ request: ServerRequest) throws -> Response {
        try check(request)
        return .json(["name": .string(node)])
    }

    @Sendable private static func versions(_ request: ServerRequest) throws -> Response {
        try check(request)
        return .json([
            "tansu": .document(["version": .string(Database.engineVersion)]),
            "collation_driver": .document(["name": "libicu"]),
        ])
    }

    @Sendable private static func settings(_ request: ServerRequest) throws -> Response {
        try check(request)
        return .json(.document(BSONDocument(request.server.settings.all.sorted { $0.key < $1.key }.map(rendered))))
    }

    private static func rendered(_ section: BytewiseText, _ settings: [BytewiseText: String]) -> (
        String, BSONValue
    ) {
        let members = settings.sorted { $0.key < $1.key }.map { ($0.key.text, BSONValue.string($0.value)) }
        return (section.text, .document(BSONDocument(members)))
    }

    @Sendable private static func section(_ request: ServerRequest) throws -> Response {
        try check(request)
        let name = BytewiseText(request.parameters["section"] ?? "")
        return .json(rendered(name, request.server.settings.all[name] ?? [:]).1)
    }

    private static func key(_ request: ServerRequest) -> (section: BytewiseText, key: BytewiseText) {
        (BytewiseText(request.parameters["section"] ?? ""), BytewiseText(request.parameters["key"] ?? ""))
    }

    private static func value(_ request: ServerRequest) throws -> String {
        let (section, key) = key(request)
        guard let value = request.server.settings[section, key] else {
            throw HTTPFailure.notFound("unknown_config_value")
        }
        return value
    }

    @Sendable private static func setting(_ request: ServerRequest) throws -> Response {
        try check(request)
        return .json(.string(try value(request)))
    }

    @Sendable private static func set(_ request: ServerRequest) async throws -> Response {
        try check(request)
        let (section, key) = key(request)
        guard case .string(let value) = try await request.json(upTo: 4 << 10) else {
            throw HTTPFailure.badRequest("The value of a setting must be a string")
        }
        guard key != "require_valid_user" || value != "true" || !request.server.authenticator.isOpen else {
            throw HTTPFailure.forbidden("The server has no users, so that nobody could use it any more")
        }
        return .json(.string(try request.server.settings.set(section, key, to: value)))
    }

    @Sendable private static func remove(_ request: ServerRequest) throws -> Response {
        try check(request)
        _ = try value(request)
        let (section, key) = key(request)
        throw HTTPFailure.forbidden("The setting \(section)/\(key) cannot be removed")
    }
}

/// `/_cluster_setup`: what tools that set CouchDB up ask for first. The server is a node of its own from its start, and
/// its admins and its address are those of its options.
enum ClusterSetupEndpoint {
    static let route = Route(
        "/_cluster_setup", allow: "GET,POST", access: .serverAdmin, [.get: .init(nil, state), .post: .init(nil, setUp)])

    @Sendable private static func state(_ request: ServerRequest) -> Response {
        .json(["state": "single_node_enabled"])
    }

    @Sendable private static func setUp(_ request: ServerRequest) async throws -> Response {
        let wanted = try await request.jsonObject(upTo: 16 << 10)
        guard wanted["action"]?.stringValue == "enable_single_node" else {
            throw HTTPFailure.badRequest("The server is a single node: the only action is enable_single_node")
        }
        if wanted["username"] != nil || wanted["password"] != nil {
            try requireAdmin(wanted["username"]?.stringValue, wanted["password"]?.stringValue, request)
        }
        return .ok(.created)
    }

    /// - Throws: ``HTTPFailure`` with 403 unless the admin who should be made is there already, with that password.
    private static func requireAdmin(_ name: String?, _ password: String?, _ request: ServerRequest) throws {
        let accounts = request.server.authenticator.accounts
        guard let name, let password, case .admin(let code)? = try accounts.account(name)?.password,
            accounts.isPassword(password, ofAdmin: code)
        else {
            throw HTTPFailure.forbidden("Server admins and their passwords come from the options of the server")
        }
    }
}

/// `/_uuids`: ids for new documents.
enum UUIDEndpoint {
    static let routes = [Route("/_uuids", allow: "GET", access: .everyone, [.get: .init(nil, answer)])]

    private static let maximum = 1_000

    @Sendable private static func answer(_ request: ServerRequest) throws -> Response {
        let count: Int
        if let text = request.query["count"] {
            guard let number = Int(text), number >= 0 else {
                throw HTTPFailure.badRequest("count must be a positive integer")
            }
            guard number <= maximum else { throw HTTPFailure.badRequest("count parameter too large") }
            count = number
        } else {
            count = 1
        }
        let uuids = (0..<count).map { _ in BSONValue.string(randomHex(byteCount: 16)) }
        return .json(
            ["uuids": BSONValue(uuids)],
            headers: [
                .cacheControl: "no-cache", .pragma: "no-cache", .expires: "Fri, 01 Jan 1990 00:00:00 GMT",
                .eTag: "\"\(randomHex(byteCount: 16))\"",
            ])
    }
}
#endif
