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

/// `/{db}/_local_docs` and its `/queries`: the documents that are not replicated.
enum LocalDocsEndpoint {
    static let routes = [
        Route("/:db/_local_docs", allow: "GET,HEAD,POST", [.get: .init(get), .post: .init(post)]),
        Route("/:db/_local_docs/queries", allow: "POST", [.post: .init(queries)]),
    ]

    private static func get(_ request: ServerRequest) async throws -> Response {
        var query = RowsQuery()
        try query.take(request.query)
        try query.validate()
        return try await answer([query], request, isList: false)
    }

    private static func post(_ request: ServerRequest) async throws -> Response {
        try request.requireJSONContentType()
        var query = RowsQuery()
        try query.take(try await request.jsonObject())
        try query.take(request.query)
        try query.validate()
        return try await answer([query], request, isList: false)
    }

    private static func queries(_ request: ServerRequest) async throws -> Response {
        try await answer(RowsQuery.list(of: request), request, isList: true)
    }

    private static func answer(
        _ queries: [RowsQuery], _ request: ServerRequest, isList: Bool
    ) async throws -> Response {
        let collection = try request.collection()
        let lists = try await collection.read { store in
            try queries.map { (query: $0, rows: try rows($0, in: store)) }
        }
        return .streamed { stream in
            if isList { try await stream.write("{\"results\":[\r\n") }
            for (number, list) in lists.enumerated() {
                if number > 0 { try await stream.write(",\r\n") }
                try await stream.write("{\"total_rows\":null,\"offset\":null,")
                if list.query.includesSequence { try await stream.write("\"update_seq\":null,") }
                try await stream.write("\"rows\":[")
                for (index, row) in list.rows.enumerated() {
                    try await stream.write(index == 0 ? "\r\n" : ",\r\n")
                    try await stream.write(row)
                }
                try await stream.write("\r\n]}")
            }
            try await stream.write(isList ? "\r\n]}\n" : "\n")
        }
    }

    /// There are few of them: one for each replication. A key that is no name of such a document has no row.
    private static func rows(_ query: RowsQuery, in store: RevisionStore) throws -> [[UInt8]] {
        if let keys = query.keys {
            let wanted = query.isDescending ? keys.reversed() : keys
            return try wanted.dropFirst(query.skip).prefix(query.limit ?? .max).compactMap { key in
                guard let id = key.stringValue, id.hasPrefix(DocumentName.localPrefix) else { return nil }
                return try store.local(id).map { row($0, query) } ?? missing(key)
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
