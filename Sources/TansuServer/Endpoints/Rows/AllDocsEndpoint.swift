#if TansuServer
    import HTTPTypes
    import HummingbirdCore
    import TansuBSON
    import TansuSync

    /// `/{db}/_all_docs` and `/{db}/_design_docs`, and their `/queries`.
    enum AllDocsEndpoint {
        static let routes = [
            Route(
                "/:db/_all_docs", allow: "GET,HEAD,POST",
                [.get: .init { try await get($0, .all) }, .post: .init { try await post($0, .all) }]),
            Route(
                "/:db/_all_docs/queries", allow: "POST", [.post: .init { try await queries($0, .all) }]),
            Route(
                "/:db/_design_docs", allow: "GET,HEAD,POST",
                [.get: .init { try await get($0, .designs) }, .post: .init { try await post($0, .designs) }]),
            Route(
                "/:db/_design_docs/queries", allow: "POST", [.post: .init { try await queries($0, .designs) }]),
        ]

        private static func get(_ request: ServerRequest, _ scope: DocumentScope) async throws -> Response {
            var query = RowsQuery()
            try query.take(request.query)
            try query.validate()
            return try await answer([query], scope, request, isList: false)
        }

        private static func post(_ request: ServerRequest, _ scope: DocumentScope) async throws -> Response {
            try request.requireJSONContentType()
            var query = RowsQuery()
            try query.take(try await request.jsonObject())
            try query.take(request.query)
            try query.validate()
            return try await answer([query], scope, request, isList: false)
        }

        private static func queries(_ request: ServerRequest, _ scope: DocumentScope) async throws -> Response {
            try await answer(RowsQuery.list(of: request), scope, request, isList: true)
        }

        private static func answer(
            _ queries: [RowsQuery], _ scope: DocumentScope, _ request: ServerRequest, isList: Bool
        ) async throws -> Response {
            let collection = try request.collection()
            // What fails does so before the answer begins.
            var lists: [DocumentRows] = []
            for query in queries { lists.append(try await DocumentRows(query, scope, collection)) }
            let rows = lists
            return .streamed { stream in
                if isList { try await stream.write("{\"results\":[\r\n") }
                for (index, list) in rows.enumerated() {
                    if index > 0 { try await stream.write(",\r\n") }
                    try await list.write(to: &stream)
                }
                try await stream.write(isList ? "\r\n]}\n" : "\n")
            }
        }
    }

    /// Which documents are listed.
    enum DocumentScope: Sendable {
        case all
        case designs
    }
#endif
