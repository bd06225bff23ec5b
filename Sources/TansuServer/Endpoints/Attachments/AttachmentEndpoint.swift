#if TansuServer
    import HTTPTypes
    import HummingbirdCore
    import TansuBSON
    import TansuSync

    /// `/{db}/{id}/{attachment}`
    enum AttachmentEndpoint {
        static let allow = "DELETE,GET,HEAD,PUT"

        static func get(_ request: ServerRequest, _ id: String, _ name: String) async throws -> Response {
            let query = try DocumentQuery(request.query)
            let collection = try request.collection()
            let file = try await collection.read { store in
                let answer = try RevisionAnswer.find(id, query.withoutAttachments, .multipart, in: store)
                return answer.text.attachments.first { $0.file.name == name }?.file
            }
            guard let file else { throw HTTPFailure.notFound("Document is missing attachment") }
            return try AttachmentAnswer(request, file, collection).response()
        }

        static func put(_ request: ServerRequest, _ id: String, _ name: String) async throws -> Response {
            try DocumentName.validate(attachment: name)
            if id.hasPrefix(DocumentName.designPrefix) { try request.requireDatabaseAdmin() }
            let collection = try request.collection()
            let revision = try request.editedRevision()
            let base = try await base(id, revision, collection)
            if base == nil { try DocumentName.validate(id: id) }
            let uploads = AttachmentUploads(request)
            defer { uploads.release() }
            let file = try await uploads.store(request, name)
            var attachments: [EditedAttachment] = [.file(file)]
            attachments += base.kept(without: name)
            let edit = DocumentEdit(
                id: id, parent: try DocumentEdit.parent(revision), isDeleted: false, fields: base?.fields ?? [:],
                attachments: attachments)
            let saved = try await DocumentWriting.save(edit, collection)
            let path = "/\(request.databaseName)/\(URLText.encoded(id))/\(URLText.encoded(name))"
            return .saved(id, saved, headers: [.location: request.url(path)])
        }

        static func delete(_ request: ServerRequest, _ id: String, _ name: String) async throws -> Response {
            try DocumentName.validate(attachment: name)
            if id.hasPrefix(DocumentName.designPrefix) { try request.requireDatabaseAdmin() }
            let collection = try request.collection()
            let revision = try request.editedRevision()
            let base: RevisionBody?
            if revision == nil {
                base = try await current(id, collection)
            } else {
                base = try await self.base(id, revision, collection)
            }
            guard let base, base.files.contains(where: { $0.name == name }) else {
                throw HTTPFailure.notFound("Document is missing attachment")
            }
            let edit = DocumentEdit(
                id: id, parent: try DocumentEdit.parent(revision), isDeleted: false, fields: base.fields,
                attachments: Optional(base).kept(without: name))
            return .saved(id, try await DocumentWriting.save(edit, collection), status: .ok)
        }

        /// The revision that is edited; nil when none is named, so that the document must not exist.
        private static func base(
            _ id: String, _ revision: WireRevision?, _ collection: ReplicatedCollection
        ) async throws -> RevisionBody? {
            guard let revision, !revision.isEmpty else { return nil }
            let body = try await collection.read { store -> RevisionBody? in
                guard let named = revision.revision, let record = try store.document(id) else { return nil }
                return try store.body(of: record, named)
            }
            guard let body else { throw HTTPFailure.revisionMissing }
            return body
        }

        /// The document as it is.
        private static func current(_ id: String, _ collection: ReplicatedCollection) async throws -> RevisionBody? {
            try await collection.read { store in
                guard let record = try store.document(id) else { throw HTTPFailure.notFound() }
                if record.isDeleted { throw HTTPFailure.deleted }
                return try store.body(of: record, record.winner)
            }
        }
    }

    extension RevisionBody? {
        /// The attachments but one, kept as they are.
        fileprivate func kept(without name: String) -> [EditedAttachment] {
            (self?.files ?? []).filter { $0.name != name }
                .map { .stub(name: $0.name, digest: nil, revpos: nil) }
        }
    }

    extension DocumentQuery {
        /// This, for the list of attachments only.
        fileprivate var withoutAttachments: DocumentQuery {
            var query = self
            query.parts = RevisionParts()
            return query
        }
    }
#endif
