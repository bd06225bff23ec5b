#if TansuServer
    import HTTPTypes
    import HummingbirdCore
    import TansuBSON
    import TansuSync

    /// `/{db}/_changes`
    enum ChangesEndpoint {
        static let route = Route("/:db/_changes", allow: "GET,POST,HEAD", [.get: .init(get), .post: .init(post)])

        private static func get(_ request: ServerRequest) async throws -> Response {
            try await answer(request, body: nil)
        }

        private static func post(_ request: ServerRequest) async throws -> Response {
            try request.requireJSONContentType()
            let bytes = try await request.bytes()
            var body: BSONDocument = [:]
            if !bytes.isEmpty {
                do {
                    guard case .document(let document) = try BSONValue(plainJSON: bytes) else {
                        throw HTTPFailure.badRequest("Request body must be a JSON object")
                    }
                    body = document
                } catch is BSONError {
                    throw HTTPFailure.invalidJSON
                }
            }
            return try await answer(request, body: body)
        }

        private static func answer(_ request: ServerRequest, body: BSONDocument?) async throws -> Response {
            let query = try ChangesQuery(
                request.query, lastEventID: HTTPField.Name("Last-Event-ID").flatMap { request[$0] })
            let collection = try request.collection()
            // Changes have an order, which a collection without revisions lacks.
            try await request.database.runWriting { _ in try collection.enable() }
            let filter = try await ChangesFilter.make(query.filter, request, body: body, collection)
            let info = try await collection.read { $0.info() }
            let text = SequenceText(instance: info.instance)
            let start: Int64
            switch query.start {
            case .beginning: start = 0
            case .current: start = info.updateSequence
            case .after(let since): start = try text.sequence(since)
            }
            let changes = ChangesFeed(
                query: query, filter: filter, text: text, collection: collection, updateSequence: info.updateSequence,
                start: query.isDescending ? .max : start)
            guard query.feed == .normal else { return try changes.live(request) }
            let tag = EntityTag.of(info.instance, "\(info.updateSequence)")
            if request.hasCurrent(tag) { return Response(status: .notModified, headers: [.eTag: tag]) }
            return changes.normal(tag)
        }
    }
#endif
