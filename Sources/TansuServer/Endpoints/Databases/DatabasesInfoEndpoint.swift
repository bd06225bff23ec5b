#if TansuServer
    import HTTPTypes
    import HummingbirdCore
    import TansuBSON
    import TansuSync

    /// `/_dbs_info`: what `/{db}` says, of several databases.
    enum DatabasesInfoEndpoint {
        static let route = Route(
            "/_dbs_info", allow: "GET,HEAD,POST", access: .serverAdmin, [.get: .init(get), .post: .init(post)])

        private static let maximumCount = 100

        private static func get(_ request: ServerRequest) async throws -> Response {
            answer(try DatabaseListEndpoints.selected(request.server.databaseNames(), request.query), request)
        }

        private static func post(_ request: ServerRequest) async throws -> Response {
            try request.requireJSONContentType()
            guard let keys = try await request.jsonObject()["keys"] else {
                throw HTTPFailure.badRequest("`keys` member must exist.")
            }
            guard case .array(let array) = keys else {
                throw HTTPFailure.badRequest("`keys` member must be an array.")
            }
            guard array.count <= maximumCount else { throw HTTPFailure.badRequest("too_many_keys") }
            return answer(array.compactMap(\.stringValue), request)
        }

        private static func answer(_ names: [String], _ request: ServerRequest) -> Response {
            .streamed { stream in
                try await stream.write("[")
                for (index, name) in names.enumerated() {
                    var row: BSONDocument = ["key": .string(name)]
                    if try request.server.databaseNames().contains(name) {
                        let collection = try ReplicatedCollection.existing(name, in: request.database)
                        row["info"] = .document(try await DatabaseEndpoint.info(collection))
                    } else {
                        row["error"] = "not_found"
                    }
                    try await stream.write((index > 0 ? "," : "") + row.extendedJSON(.relaxed))
                }
                try await stream.write("]\n")
            }
        }
    }
#endif
