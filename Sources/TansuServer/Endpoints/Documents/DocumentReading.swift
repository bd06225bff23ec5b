#if TansuServer
    import HTTPTypes
    import HummingbirdCore
    import TansuSync

    /// The answer to a request for one document.
    struct DocumentReading: Sendable {
        private let request: ServerRequest
        private let id: String
        private let query: DocumentQuery

        init(_ request: ServerRequest, _ id: String, _ query: DocumentQuery) {
            self.request = request
            self.id = id
            self.query = query
        }

        func answer() async throws -> Response {
            let collection = try request.collection()
            let isMultipart = query.parts.mayIncludeAttachments && request.accepts("multipart/related")
            let read: @Sendable (RevisionStore) throws -> RevisionAnswer = { [id, query] store in
                try RevisionAnswer.find(id, query, isMultipart ? .multipart : .json, in: store)
            }
            // A thread of the database takes longer to begin than to read one document.
            let now = try collection.readAtOnce(read)
            let answer = if let now { now } else { try await collection.read(read) }
            var headers = HTTPFields()
            if !answer.hasMeta {
                let tag = EntityTag.of(revision: answer.text.revision)
                if request.hasCurrent(tag) { return Response(status: .notModified, headers: [.eTag: tag]) }
                headers[.eTag] = tag
            }
            guard isMultipart, !answer.text.attachments.isEmpty else {
                return AnswerText(answer).response(headers, collection)
            }
            return RelatedAnswer(answer, collection).response(headers)
        }
    }
#endif
