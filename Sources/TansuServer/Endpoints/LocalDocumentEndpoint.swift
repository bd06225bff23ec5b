#if TansuServer
import HTTPTypes
import HummingbirdCore
import TansuBSON
import TansuSync

/// `_local` documents, which are not replicated. Their revisions are numbers, and what is given last is kept.
enum LocalDocumentEndpoint {
    static func get(_ request: ServerRequest, _ id: String) async throws -> Response {
        let query = try DocumentQuery(request.query)
        let local = try await request.collection().read { try $0.local(id) }
        guard let local else { throw HTTPFailure.notFound() }
        let tag = tag(local.fields, local.revision)
        if request.hasCurrent(tag) { return Response(status: .notModified, headers: [.eTag: tag]) }
        return .json(bytes: text(id, local.fields, local.revision, query.parts), headers: [.eTag: tag])
    }

    private static func text(
        _ id: String, _ body: BSONDocument, _ revision: Int64, _ parts: RevisionParts
    ) -> [UInt8] {
        var fields = body
        if parts.includesPath {
            fields["_revisions"] = ["start": 0, "ids": .array([.string("\(revision)")])]
        }
        return WireRevisionText(localID: id, revision: revision, fields: fields).json()
    }

    static func put(_ request: ServerRequest, _ id: String) async throws -> Response {
        let document = try WireDocument(json: try await request.bytes())
        let revision = try request.editedRevision(body: document.revision)
        return try await save(
            request, id, document.localFields, revision?.text, isDeleted: document.isDeleted,
            [.location: DocumentWriting.documentURL(request, id)], status: .created)
    }

    static func delete(_ request: ServerRequest, _ id: String) async throws -> Response {
        let collection = try request.collection()
        guard try await collection.read({ try $0.local(id) }) != nil else { throw HTTPFailure.notFound() }
        let revision = try request.editedRevision()
        return try await save(request, id, [:], revision?.text, isDeleted: true, [:], status: .ok)
    }

    /// Saves or removes a document, whatever revision it has.
    static func save(
        _ request: ServerRequest, _ id: String, _ fields: BSONDocument, _ revision: String?, isDeleted: Bool,
        _ headers: HTTPFields, status: HTTPResponse.Status
    ) async throws -> Response {
        let saved = try nextRevision(after: revision, isDeleted: isDeleted)
        try await request.collection().write { store in
            if isDeleted {
                _ = try store.removeLocal(id)
            } else {
                try store.saveLocal(id, former: saved - 1, fields)
            }
        }
        return .saved(
            id, "0-\(saved)", status: isDeleted ? .ok : status,
            headers: headers.merging([.eTag: tag(fields, saved)]))
    }

    /// The revision after the given one; 0 is that of a removal.
    ///
    /// - Throws: ``HTTPFailure`` when it is no revision of a local document.
    static func nextRevision(after text: String?, isDeleted: Bool) throws -> Int64 {
        guard !isDeleted else { return 0 }
        guard let text else { return 1 }
        let parts = text.parts(separatedBy: "-", maxSplits: 1)
        guard parts.count == 2, parts[0] == "0", let number = Int64(parts[1]), number < .max else {
            throw HTTPFailure.badRequest("Invalid rev format")
        }
        return number + 1
    }

    private static func tag(_ body: BSONDocument, _ revision: Int64) -> String {
        EntityTag.of("\(revision)", body.extendedJSON())
    }
}
#endif
