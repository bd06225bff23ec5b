#if TansuServer
import HTTPTypes
import HummingbirdCore
import TansuBSON
import TansuSync

/// `/{db}/_find` and `/{db}/_explain`
enum FindEndpoint {
    static let routes = [
        Route("/:db/_find", allow: "POST", [.post: .init(find)]),
        Route("/:db/_explain", allow: "POST", [.post: .init(explain)]),
    ]

    /// The greatest number of documents in memory at once, and the bytes after which no more are added.
    private static let page = Find.Page(documents: 500, bytes: 1 << 20)

    private static func find(_ request: ServerRequest) async throws -> Response {
        try request.requireJSONContentType()
        let body = try await request.jsonObject()
        let query = try Mango.Query(body)
        let collection = try request.collection()
        let start = ContinuousClock.now
        // What fails does so before the answer begins.
        let now = try collection.findAtOnce(query)
        let first = if let now { now } else { try await collection.find(query, page: page) }
        return .streamed { stream in
            var answer = first
            var left = query.limit
            var rest = body
            var found = 0
            var (keys, documents) = (0, 0)
            try await stream.write("{\"docs\":[")
            while true {
                for document in answer.documents {
                    try await stream.write(found == 0 ? "\r\n" : ",\r\n")
                    var writer = WireJSONWriter()
                    writer.value(.document(document))
                    try await stream.write(writer.finish())
                    found += 1
                }
                keys += answer.keysExamined
                documents += answer.documentsExamined
                left -= Int64(answer.documents.count)
                guard answer.isCut, left > 0 else { break }
                rest["bookmark"] = .string(answer.bookmark)
                rest["limit"] = .int64(left)
                rest["skip"] = nil
                answer = try await collection.find(Mango.Query(rest), page: page)
            }
            var writer = WireJSONWriter()
            writer.raw("\r\n],\"bookmark\":")
            writer.string(answer.bookmark)
            if query.includesStatistics {
                let time = (ContinuousClock.now - start) / .milliseconds(1)
                writer.raw(",\"execution_stats\":")
                writer.value([
                    "total_keys_examined": BSONValue(keys), "total_docs_examined": BSONValue(documents),
                    "total_quorum_docs_examined": 0, "results_returned": BSONValue(found),
                    "execution_time_ms": .double(time),
                ])
            }
            if let warning = first.warning {
                writer.raw(",\"warning\":")
                writer.string(warning)
            }
            writer.raw("}\n")
            try await stream.write(writer.finish())
        }
    }

    private static func explain(_ request: ServerRequest) async throws -> Response {
        try request.requireJSONContentType()
        let query = try Mango.Query(try await request.jsonObject())
        let collection = try request.collection()
        let explanation = try await request.database.runReading { _ in try collection.explain(query) }
        return .json(.document(explanation))
    }
}

// MARK: - RevisionStore: mango

extension RevisionStore {
    /// A revision as selectors see it: with `_id`, `_rev` and what else CouchDB shows of it.
    func mangoDocument(_ record: DocumentRecord, _ revision: Revision) throws -> BSONDocument? {
        guard let body = try body(of: record, revision) else { return nil }
        if !body.isDeleted, revision == record.winner { return try wholeDocument(record) }
        var document: BSONDocument = ["_id": .string(record.id), "_rev": .string(revision.description)]
        for (name, value) in body.fields { document[name] = value }
        if body.isDeleted { document["_deleted"] = true }
        if !body.files.isEmpty {
            document["_attachments"] = .document(
                BSONDocument(body.files.map { ($0.name, .document($0.stub)) }))
        }
        return document
    }
}
#endif
