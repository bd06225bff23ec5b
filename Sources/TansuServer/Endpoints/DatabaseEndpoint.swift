#if TansuServer
import HTTPTypes
import HummingbirdCore
import Tansu
import TansuBSON
import TansuSync

/// `/{db}`
enum DatabaseEndpoint {
    static let route = Route(
        "/:db", allow: "DELETE,GET,HEAD,POST",
        [
            .put: .init(.serverAdmin, put), .get: .init(get), .delete: .init(.serverAdmin, delete),
            .post: .init(post),
        ])

    private static func put(_ request: ServerRequest) async throws -> Response {
        let name = request.databaseName
        try DatabaseName.check(name)
        let partitioned = request.query["partitioned"] ?? "false"
        guard ["true", "false"].contains(partitioned) else {
            throw HTTPFailure.badRequest("Invalid `partitioned` parameter")
        }
        guard try !request.server.databaseNames().contains(name) else {
            throw HTTPFailure(
                .preconditionFailed, "file_exists",
                "The database could not be created, the file already exists.")
        }
        guard partitioned == "false" else {
            throw HTTPFailure.notImplemented("Databases are not partitioned; create it without")
        }
        try await request.database.ensureCollection(name)
        try request.collection().enable()
        return .ok(.created, headers: [.location: request.url("/\(URLText.encoded(name))")])
    }

    private static func get(_ request: ServerRequest) async throws -> Response {
        .json(.document(try await info(request.collection())))
    }

    /// What CouchDB says about a database.
    static func info(_ collection: ReplicatedCollection) async throws -> BSONDocument {
        let info = try await collection.read { $0.info() }
        let text = SequenceText(instance: info.instance)
        return [
            "instance_start_time": "0", "db_name": .string(collection.name),
            "purge_seq": .string(text(info.purgeSequence)), "update_seq": .string(text(info.updateSequence)),
            "sizes": [
                "file": 0, "external": 0, "active": 0,
            ],
            "props": [:], "doc_del_count": .int64(info.deletedDocuments), "doc_count": .int64(info.documents),
            "disk_format_version": 8, "compact_running": false,
            "cluster": ["q": 1, "n": 1, "w": 1, "r": 1],
        ]
    }

    private static func delete(_ request: ServerRequest) async throws -> Response {
        guard request.query["rev"] == nil else {
            throw HTTPFailure.badRequest(
                "You tried to DELETE a database with a ?=rev parameter. Did you mean to DELETE a document instead?")
        }
        let name = request.databaseName
        try request.server.requireDatabase(name)
        try request.collection().drop()
        return .ok()
    }

    private static func post(_ request: ServerRequest) async throws -> Response {
        try request.requireJSONContentType()
        let document = try WireDocument(json: try await request.bytes())
        // Under a name of its own a copy of a document is a new one, whatever its revision.
        let parent = document.id == nil ? nil : document.revision
        let id = document.id ?? NewDocumentID.make()
        let isBatch = request.query["batch"] == "ok"
        let location: HTTPFields = [.location: DocumentWriting.documentURL(request, id)]
        if id.hasPrefix(DocumentName.localPrefix) {
            let saved = try await LocalDocumentEndpoint.save(
                request, id, document.localFields, parent?.text, isDeleted: document.isDeleted, location,
                status: .created)
            return isBatch ? accepted(id) : saved
        }
        if id.hasPrefix(DocumentName.designPrefix) { try request.requireDatabaseAdmin() }
        let collection = try request.collection()
        let uploads = AttachmentUploads(request)
        defer { uploads.release() }
        let prepared = try await request.prepared(document, id)
        let edit = try DocumentEdit(id, prepared, parent, uploads)
        if isBatch {
            _ = try? await DocumentWriting.save(edit, collection)
            return accepted(id)
        }
        return .saved(id, try await DocumentWriting.save(edit, collection), headers: location)
    }

    private static func accepted(_ id: String) -> Response {
        .json(["ok": true, "id": .string(id)], status: .accepted)
    }
}

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
