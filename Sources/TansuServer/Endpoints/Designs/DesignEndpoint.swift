#if TansuServer
    import HTTPTypes
    import HummingbirdCore
    import TansuBSON
    import TansuSync

    /// `/{db}/_design/{name}/_…`: design documents are stored, but their JavaScript is not run.
    enum DesignEndpoint {
        private static let methods: [HTTPRequest.Method] = [.get, .post, .put, .delete]

        static let routes =
            [Route("/:db/_design/:design/_info", allow: "GET", [.get: .init(info)])]
            + ["_view", "_show", "_list", "_update", "_rewrite"].flatMap { action in
                [
                    Route("/:db/_design/:design/\(action)", allow: "GET,POST", handlers(action)),
                    Route("/:db/_design/:design/\(action)/*", allow: "GET,POST", handlers(action)),
                ]
            }

        private static func handlers(_ action: String) -> [HTTPRequest.Method: Route.Endpoint] {
            Dictionary(
                uniqueKeysWithValues: methods.map { method in
                    (method, Route.Endpoint { try await refuse(action, $0) })
                })
        }

        private static let functions = [
            "_view": "views", "_show": "shows", "_list": "lists", "_update": "updates", "_rewrite": "rewrites",
        ]

        private static func refuse(_ action: String, _ request: ServerRequest) async throws -> Response {
            let fields = try await DesignDocument.fields(of: request.parameters["design"] ?? "", request.collection())
            let member = functions[action] ?? ""
            guard let name = request.rest.first else { throw HTTPFailure.notFound("Invalid path.") }
            guard action == "_rewrite" || fields[member]?.documentValue?[name] != nil else {
                throw HTTPFailure.notFound(action == "_view" ? "missing_named_view" : "missing json key: \(name)")
            }
            throw HTTPFailure.notImplemented(
                action == "_view"
                    ? "JavaScript views are not run; query with _find and an index of _index"
                    : "JavaScript functions are not run; do it in the client")
        }

        private static func info(_ request: ServerRequest) async throws -> Response {
            let name = request.parameters["design"] ?? ""
            let collection = try request.collection()
            let fields = try await DesignDocument.fields(of: name, collection)
            let sequence = try await collection.read { $0.info().updateSequence }
            let signature = EntityTag.digest((fields["views"] ?? .null).extendedJSON())
            let view: BSONDocument = [
                "updates_pending": ["minimum": 0, "preferred": 0, "total": 0], "waiting_commit": false,
                "waiting_clients": 0, "updater_running": false, "update_seq": .int64(sequence),
                "sizes": ["file": 0, "external": 0, "active": 0], "signature": .string(signature), "purge_seq": 0,
                "language": fields["language"] ?? "javascript", "compact_running": false, "collator_versions": [],
            ]
            return .json(["name": .string(name), "view_index": .document(view)])
        }
    }
#endif
