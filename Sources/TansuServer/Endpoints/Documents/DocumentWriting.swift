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
#endif
