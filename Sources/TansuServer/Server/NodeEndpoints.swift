#if TansuServer
    import HummingbirdCore
    import Tansu
    import TansuBSON

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
            guard let former = request.server.settings.set(section, key, to: value) else {
                throw HTTPFailure.forbidden("The setting \(section)/\(key) cannot be changed while the server runs")
            }
            return .json(.string(former))
        }

        @Sendable private static func remove(_ request: ServerRequest) throws -> Response {
            try check(request)
            _ = try value(request)
            let (section, key) = key(request)
            throw HTTPFailure.forbidden("The setting \(section)/\(key) cannot be removed")
        }
    }
#endif
