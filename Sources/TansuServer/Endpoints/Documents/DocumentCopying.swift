#if TansuServer
    import HTTPTypes
    import HummingbirdCore
    import TansuBSON
    import TansuSync

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
            guard let name = HTTPField.Name("Destination"), let text = request[name] else {
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
#endif
