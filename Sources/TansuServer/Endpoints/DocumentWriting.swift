#if TansuServer
import HTTPTypes
import HummingbirdCore
import TansuBSON
import TansuSync

/// Requests that save or remove one document.
struct DocumentWriting: Sendable {
    private let request: ServerRequest
    private let id: String

    init(_ request: ServerRequest, _ id: String) {
        self.request = request
        self.id = id
    }

    func put() async throws -> Response {
        let query = try DocumentQuery(request.query)
        let collection = try request.collection()
        let uploads = AttachmentUploads(request)
        defer { uploads.release() }
        let document: WireDocument
        if request[.contentType]?.hasPrefix("multipart/related;") == true {
            document = try await RelatedUpload.read(request, uploads)
        } else {
            document = try WireDocument(json: try await request.bytes())
        }
        // Some clients name design documents without their prefix.
        if let other = document.id, other != id, DocumentName.designPrefix + other != id {
            throw HTTPFailure.badRequest("The _id of the document is not the one of the URL")
        }
        let revision = try request.editedRevision(body: document.revision)
        if request.query["batch"] == "ok" {
            _ = try? await save(document, revision, query, uploads, collection)
            return .json(["ok": true, "id": .string(id)], status: .accepted)
        }
        let saved = try await save(document, revision, query, uploads, collection)
        return .saved(
            id, saved, status: document.isDeleted ? .ok : .created,
            headers: [.eTag: EntityTag.of(revision: saved), .location: Self.documentURL(request, id)])
    }

    private func save(
        _ document: WireDocument, _ revision: WireRevision?, _ query: DocumentQuery, _ uploads: AttachmentUploads,
        _ collection: ReplicatedCollection
    ) async throws -> Revision {
        let document = try await request.prepared(document, id)
        if query.newEdits == false {
            let pushed = try PushedRevision(id, document, revision, uploads)
            let errors = try await collection.write { try $0.push([pushed]) }
            if let error = errors.first ?? nil { throw HTTPFailure(error, id) }
            return pushed.path.revision
        }
        var edit = try DocumentEdit(id, document, revision, uploads)
        // Without `_rev`, or with one that is a generation only, CouchDB does not ask whether the parent of a new document exists.
        edit.allowsUnknownParent =
            (document.path != nil && !document.hasRevision) || edit.parent?.hashText.isEmpty == true
        return try await Self.save(edit, collection)
    }

    /// Saves one edit.
    ///
    /// - Throws: ``HTTPFailure`` when it is refused.
    static func save(_ edit: DocumentEdit, _ collection: ReplicatedCollection) async throws -> Revision {
        let results = try await collection.write { try $0.save([edit]) }
        do {
            return try results[0].get()
        } catch {
            throw HTTPFailure(error, edit.id)
        }
    }

    /// The URL of a document as answers show it.
    static func documentURL(_ request: ServerRequest, _ id: String) -> String {
        request.url("/\(URLText.encoded(request.databaseName))/\(URLText.encoded(id))")
    }

    func delete() async throws -> Response {
        let collection = try request.collection()
        let record = try await collection.read { [id] in try $0.document(id) }
        guard let record else { throw HTTPFailure.notFound() }
        if record.isDeleted { throw HTTPFailure.deleted }
        let revision = try request.editedRevision()
        if request.isUsersDatabase { _ = try await request.storedFields([:], id: id, isDeleted: true) }
        let edit = try DocumentEdit(removing: id, revision)
        let saved = try await Self.save(edit, collection)
        return .saved(id, saved, status: .ok, headers: [.eTag: EntityTag.of(revision: saved)])
    }
}

/// A request that copies a document to another id.
struct DocumentCopying: Sendable {
    private let request: ServerRequest
    private let source: DocumentTarget

    init(_ request: ServerRequest, _ source: DocumentTarget) {
        self.request = request
        self.source = source
    }

    func copy() async throws -> Response {
        let revision = try request.editedRevision()
        let (target, parent) = try destination()
        try request.checkReading(source.id)
        let collection = try request.collection()
        let (fields, attachments) = try await content(revision, collection)
        try DocumentName.validate(id: target)
        let location: HTTPFields = [.location: DocumentWriting.documentURL(request, target)]
        if target.hasPrefix(DocumentName.localPrefix) {
            return try await LocalDocumentEndpoint.save(
                request, target, fields, parent?.text, isDeleted: false, location, status: .created)
        }
        if target.hasPrefix(DocumentName.designPrefix) { try request.requireDatabaseAdmin() }
        let stored = try await request.storedFields(fields, id: target)
        let edit = DocumentEdit(
            id: target, parent: try DocumentEdit.parent(parent), isDeleted: false, fields: stored,
            attachments: attachments)
        let saved = try await DocumentWriting.save(edit, collection)
        return .saved(
            target, saved,
            headers: location.merging([.eTag: EntityTag.of(revision: saved)]))
    }

    private func content(
        _ revision: WireRevision?, _ collection: ReplicatedCollection
    ) async throws -> (BSONDocument, [EditedAttachment]) {
        try await collection.read { [source] store in
            if source.isLocal {
                guard let local = try store.local(source.id) else { throw HTTPFailure.notFound() }
                return (local.fields, [])
            }
            guard let record = try store.document(source.id) else { throw HTTPFailure.notFound() }
            if revision == nil, record.isDeleted { throw HTTPFailure.deleted }
            let wanted = revision == nil ? record.winner : revision?.revision
            guard let wanted, let body = try store.body(of: record, wanted) else { throw HTTPFailure.notFound() }
            return (body.fields, body.files.map { .file($0) })
        }
    }

    /// The id and the revision of the document that is written.
    private func destination() throws -> (id: String, parent: WireRevision?) {
        guard let text = request[.destination] else {
            throw HTTPFailure.badRequest("Destination header is mandatory for COPY.")
        }
        if text.hasPrefix("http://") || text.hasPrefix("https://") {
            throw HTTPFailure.badRequest("Destination URL must be relative.")
        }
        let parts = text.parts(separatedBy: "?", maxSplits: 1)
        let id = try percentDecoded(parts[0].utf8[...])
        guard parts.count == 2 else { return (id, nil) }
        return (id, try WireRevision(parts[1].parts(separatedBy: "=", maxSplits: 1).last ?? ""))
    }
}

// MARK: - DocumentEdit: wire

extension DocumentEdit {
    /// The edit that a client sent.
    ///
    /// - Throws: ``HTTPFailure`` with 409 when no document can have the revision that is edited.
    init(
        _ id: String, _ document: WireDocument, _ revision: WireRevision?, _ uploads: AttachmentUploads
    ) throws {
        self.init(
            id: id, parent: try Self.parent(revision), isDeleted: document.isDeleted, fields: document.fields,
            attachments: try EditedAttachment.all(document.attachments, uploads))
    }

    /// The edit that removes a document.
    init(removing id: String, _ revision: WireRevision?) throws {
        self.init(id: id, parent: try Self.parent(revision), isDeleted: true, fields: [:], attachments: [])
    }

    /// - Throws: ``HTTPFailure`` with 409 when no document can have the revision.
    static func parent(_ revision: WireRevision?) throws -> Revision? {
        guard let revision, !revision.isEmpty else { return nil }
        guard let parent = revision.revision else { throw HTTPFailure.conflict() }
        return parent
    }
}

extension PushedRevision {
    /// The revision that a replicator sent.
    ///
    /// - Throws: ``HTTPFailure`` with 400 when it does not name the revision.
    init(
        _ id: String, _ document: WireDocument, _ revision: WireRevision?, _ uploads: AttachmentUploads
    ) throws {
        guard let revision else {
            throw HTTPFailure.badRequest(
                "When `new_edits: false`, the document needs `_rev` or `_revisions` specified")
        }
        guard let named = revision.revision else { throw HTTPFailure.badRequest("Invalid rev format") }
        self.init(
            id: id, path: document.path ?? RevisionPath(named), isDeleted: document.isDeleted,
            fields: document.fields,
            attachments: try EditedAttachment.all(document.attachments, uploads))
    }
}

extension EditedAttachment {
    /// The attachments of a document; those with their bytes are stored first.
    static func all(
        _ attachments: [WireAttachment], _ uploads: AttachmentUploads
    ) throws -> [EditedAttachment] {
        var edited: [EditedAttachment] = []
        for attachment in attachments {
            switch attachment.content {
            case .inline(let bytes):
                edited.append(.file(try uploads.store(bytes, attachment)))
            case .stub:
                edited.append(
                    .stub(name: attachment.name, digest: attachment.digest, revpos: attachment.revpos))
            case .follows:
                // Only a multipart request has what follows.
                guard let file = uploads.file(attachment.name) else {
                    throw HTTPFailure(
                        .preconditionFailed, "missing_stub",
                        "The attachment \(attachment.name) does not follow the document")
                }
                edited.append(.file(file))
            }
        }
        return edited
    }
}
#endif
