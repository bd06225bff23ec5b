#if TansuServer
    import HTTPTypes
    import HummingbirdCore
    import TansuBSON
    import TansuSync

    /// `/{db}/_local_docs`: the documents that are not replicated.
    enum LocalDocsEndpoint {
        static let route = Route("/:db/_local_docs", allow: "GET,HEAD,POST", [.get: .init(get), .post: .init(post)])

        private static func get(_ request: ServerRequest) async throws -> Response {
            var query = RowsQuery()
            try query.take(request.query)
            return try await answer(query, request)
        }

        private static func post(_ request: ServerRequest) async throws -> Response {
            try request.requireJSONContentType()
            var query = RowsQuery()
            try query.take(try await request.jsonObject())
            try query.take(request.query)
            return try await answer(query, request)
        }

        private static func answer(_ query: RowsQuery, _ request: ServerRequest) async throws -> Response {
            try query.validate()
            let collection = try request.collection()
            let rows = try await collection.read { store in try Self.rows(query, in: store) }
            return .streamed { stream in
                try await stream.write("{\"total_rows\":null,\"offset\":null,\"rows\":[")
                for (index, row) in rows.enumerated() {
                    try await stream.write(index == 0 ? "\r\n" : ",\r\n")
                    try await stream.write(row)
                }
                try await stream.write("\r\n]}\n")
            }
        }

        /// There are few of them: one for each replication.
        private static func rows(_ query: RowsQuery, in store: RevisionStore) throws -> [[UInt8]] {
            if let keys = query.keys {
                let wanted = query.isDescending ? keys.reversed() : keys
                return try wanted.dropFirst(query.skip).prefix(query.limit ?? .max).map { key in
                    guard case .string(let id) = key, let local = try store.local(id) else { return missing(key) }
                    return row(local, query)
                }
            }
            let range = DocumentRange(query, .all)
            var locals = try store.locals().filter { range.contains($0.id) }
            if query.isDescending { locals.reverse() }
            return locals.dropFirst(query.skip).prefix(query.limit ?? .max).map { row($0, query) }
        }

        private static func missing(_ key: BSONValue) -> [UInt8] {
            BSONDocument([("key", key), ("error", "not_found")]).extendedJSONBytes(.relaxed)
        }

        private static func row(_ local: LocalDocument, _ query: RowsQuery) -> [UInt8] {
            var writer = WireJSONWriter()
            writer.raw("{\"id\":")
            writer.string(local.id)
            writer.raw(",\"key\":")
            writer.string(local.id)
            writer.raw(",\"value\":{\"rev\":")
            writer.string("0-\(local.revision)")
            writer.raw("}")
            if query.includesDocuments {
                writer.raw(",\"doc\":")
                WireRevisionText(localID: local.id, revision: local.revision, fields: local.fields).write(to: &writer)
            }
            writer.raw("}")
            return writer.finish()
        }
    }
#endif
