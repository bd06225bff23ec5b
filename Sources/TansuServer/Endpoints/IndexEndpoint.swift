#if TansuServer
import HTTPTypes
import HummingbirdCore
import TansuBSON
import TansuSync

/// `/{db}/_index`: the indexes of Mango, which are views of design documents.
enum IndexEndpoint {
    static let routes = [
        Route("/:db/_index", allow: "GET,POST", [.get: .init(list), .post: .init(create)]),
        Route("/:db/_index/_bulk_delete", allow: "POST", [.post: .init(.databaseAdmin, deleteMany)]),
        Route("/:db/_index/:ddoc/:type/:name", allow: "DELETE", [.delete: .init(.databaseAdmin, delete)]),
        Route("/:db/_index/_design/:ddoc/:type/:name", allow: "DELETE", [.delete: .init(.databaseAdmin, delete)]),
    ]

    private static func list(_ request: ServerRequest) async throws -> Response {
        let indexes = try await request.collection().read { try $0.findIndexes() }
        let all = (indexes + [try Mango.Index.allDocuments()]).sorted(by: Mango.Index.isBefore)
        let limit = try count(named: "limit", request, minimum: 1) ?? all.count
        let skip = try count(named: "skip", request, minimum: 0) ?? 0
        let shown = all.dropFirst(skip).prefix(limit).map { BSONValue.document($0.json) }
        return .json(["total_rows": BSONValue(all.count), "indexes": .array(BSONArray(shown))])
    }

    private static func count(named name: String, _ request: ServerRequest, minimum: Int) throws -> Int? {
        guard let text = request.query[name] else { return nil }
        guard let number = Int(text), number >= minimum else {
            throw HTTPFailure(
                .badRequest, "invalid_list_index_params", "Index parameter ranges: limit > 1, skip > 0")
        }
        return number
    }

    private static func create(_ request: ServerRequest) async throws -> Response {
        try request.requireJSONContentType()
        let wanted = try Mango.IndexRequest(try await request.jsonObject())
        try request.requireDatabaseAdmin()
        let isCreated = try await request.collection().write { store in
            let current = try designDocument(wanted.designDocument, in: store)
            guard let fields = try wanted.added(to: current?.fields) else { return false }
            let edit = DocumentEdit(
                id: wanted.designDocument, parent: current?.revision, isDeleted: false, fields: fields,
                attachments: current?.kept ?? [])
            try save(edit, in: store)
            return true
        }
        return .json([
            "result": isCreated ? "created" : "exists", "id": .string(wanted.designDocument),
            "name": .string(wanted.name),
        ])
    }

    private static func delete(_ request: ServerRequest) async throws -> Response {
        let id = designID(request.parameters["ddoc"] ?? "")
        let name = request.parameters["name"] ?? ""
        guard request.parameters["type"] == "json" else { throw HTTPFailure.notFound() }
        let isDeleted = try await request.collection().write { store in
            try remove(id, in: store) { $0 == name }
        }
        guard isDeleted else { throw HTTPFailure.notFound() }
        return .ok()
    }

    private static func deleteMany(_ request: ServerRequest) async throws -> Response {
        try request.requireJSONContentType()
        let body = try await request.jsonObject()
        guard let list = body["docids"] else {
            throw HTTPFailure(.badRequest, "missing_required_key", "Missing required key: docids")
        }
        guard case .array(let array) = list, array.allSatisfy({ $0.stringValue != nil }) else {
            throw HTTPFailure(
                .badRequest, "invalid_bulk_docs", "Bulk Delete requires an array of non-null docids.")
        }
        let ids = array.compactMap(\.stringValue).map { designID($0) }
        let deleted = try await request.collection().write { store in
            try ids.map { try remove($0, in: store) { _ in true } }
        }
        var (success, fail): ([BSONValue], [BSONValue]) = ([], [])
        for (id, isDeleted) in zip(ids, deleted) {
            if isDeleted {
                success.append(["id": .string(id), "ok": true])
            } else {
                fail.append(["id": .string(id), "error": "not_found"])
            }
        }
        return .json(["success": .array(BSONArray(success)), "fail": .array(BSONArray(fail))])
    }

    private static func designID(_ name: String) -> String {
        name.hasPrefix(DocumentName.designPrefix) ? name : DocumentName.designPrefix + name
    }

    private static func designDocument(_ id: String, in store: RevisionStore) throws -> RevisionBody? {
        guard let record = try store.document(id), !record.isDeleted else { return nil }
        return try store.body(of: record, record.winner)
    }

    private static func save(_ edit: DocumentEdit, in store: RevisionStore) throws {
        if case .failure(let error)? = try store.save([edit]).first { throw HTTPFailure(error, edit.id) }
    }

    /// Removes indexes of a design document, and the document when nothing is left of it.
    ///
    /// - Returns: Whether there was one.
    private static func remove(
        _ id: String, in store: RevisionStore, where isRemoved: (String) -> Bool
    ) throws -> Bool {
        guard let current = try designDocument(id, in: store), current.fields["language"] == "query",
            let views = current.fields["views"]?.documentValue, views.contains(where: { isRemoved($0.key) })
        else { return false }
        var fields = current.fields
        let left = BSONDocument(views.filter { !isRemoved($0.key) }.map { ($0.key, $0.value) })
        fields["views"] = left.isEmpty ? nil : .document(left)
        let isEmpty = fields.allSatisfy { $0.key == "language" }
        let edit = DocumentEdit(
            id: id, parent: current.revision, isDeleted: isEmpty, fields: isEmpty ? [:] : fields,
            attachments: isEmpty ? [] : current.kept)
        try save(edit, in: store)
        return true
    }
}

extension RevisionBody {
    /// The attachments, kept as they are.
    fileprivate var kept: [EditedAttachment] { files.map { .stub(name: $0.name, digest: nil, revpos: nil) } }
}
#endif
