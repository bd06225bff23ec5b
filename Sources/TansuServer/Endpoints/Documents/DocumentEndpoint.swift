#if TansuServer
    import HTTPTypes
    import HummingbirdCore
    import TansuBSON
    import TansuSync

    /// `/{db}/{id}` and `/{db}/{id}/{attachment}`, design and local documents included.
    enum DocumentEndpoint {
        static let allow = "DELETE,GET,HEAD,POST,PUT,COPY"

        static let route = Route(
            "/:db/*", allow: allow,
            [
                .get: .init(get), .put: .init(put), .delete: .init(delete), .copy: .init(copy), .post: .init(post),
            ])

        private static func get(_ request: ServerRequest) async throws -> Response {
            let target = try DocumentTarget(request.rest)
            try request.checkReading(target.id)
            if let name = target.attachment { return try await AttachmentEndpoint.get(request, target.id, name) }
            if target.isLocal { return try await LocalDocumentEndpoint.get(request, target.id) }
            let query = try DocumentQuery(request.query)
            if let revisions = query.openRevisions {
                return try await OpenRevisions(request, target.id, revisions, query).answer()
            }
            return try await DocumentReading(request, target.id, query).answer()
        }

        private static func put(_ request: ServerRequest) async throws -> Response {
            let target = try DocumentTarget(request.rest)
            if target.attachment != nil { try request.checkReading(target.id) }
            if let name = target.attachment { return try await AttachmentEndpoint.put(request, target.id, name) }
            try DocumentName.validate(id: target.id)
            if target.isLocal { return try await LocalDocumentEndpoint.put(request, target.id) }
            if target.isDesign { try request.requireDatabaseAdmin() }
            return try await DocumentWriting(request, target.id).put()
        }

        private static func delete(_ request: ServerRequest) async throws -> Response {
            let target = try DocumentTarget(request.rest)
            if target.attachment != nil { try request.checkReading(target.id) }
            if let name = target.attachment { return try await AttachmentEndpoint.delete(request, target.id, name) }
            if target.isLocal { return try await LocalDocumentEndpoint.delete(request, target.id) }
            if target.isDesign { try request.requireDatabaseAdmin() }
            return try await DocumentWriting(request, target.id).delete()
        }

        private static func copy(_ request: ServerRequest) async throws -> Response {
            let target = try DocumentTarget(request.rest)
            guard target.attachment == nil else { throw HTTPFailure.methodNotAllowed(AttachmentEndpoint.allow) }
            return try await DocumentCopying(request, target).copy()
        }

        /// CouchDB takes HTML forms here, which no client sends any more.
        private static func post(_ request: ServerRequest) async throws -> Response {
            let target = try DocumentTarget(request.rest)
            guard target.attachment == nil else { throw HTTPFailure.methodNotAllowed(AttachmentEndpoint.allow) }
            guard request[HTTPField.Name("Referer") ?? .accept] != nil else {
                throw HTTPFailure.badRequest("Referer header required.")
            }
            throw HTTPFailure.notImplemented("Documents are not saved from forms; send JSON with PUT")
        }
    }
#endif
