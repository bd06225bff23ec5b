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
#endif
