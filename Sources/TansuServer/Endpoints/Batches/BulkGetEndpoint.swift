#if TansuServer
    import HTTPTypes
    import HummingbirdCore
    import TansuBSON
    import TansuSync

    /// `/{db}/_bulk_get`
    enum BulkGetEndpoint {
        static let route = Route("/:db/_bulk_get", allow: "POST", [.post: .init(post)])

        private static let refusedParameters = ["open_revs", "new_edits", "w", "rev", "atts_since"]

        private static func post(_ request: ServerRequest) async throws -> Response {
            try request.requireJSONContentType()
            let body = try await request.jsonObject()
            for (name, _) in request.query.items where refusedParameters.contains(name) {
                throw HTTPFailure.badRequest("\"\(name)\" query parameter is not acceptable")
            }
            guard let list = body["docs"] else { throw HTTPFailure.badRequest("Missing JSON list of 'docs'.") }
            guard case .array(let array) = list else { throw HTTPFailure.badRequest("`docs` must be an array.") }
            let query = try DocumentQuery(request.query)
            let items = array.map { BulkGetItem($0) }
            let collection = try request.collection()
            let isMixed = request.accepts("multipart/mixed")
            guard !request.accepts("application/json"), isMixed || request.accepts("multipart/related") else {
                return json(items, query, collection)
            }
            return parts(items, query, isMixed ? "mixed" : "related", collection)
        }

        private static func json(
            _ items: [BulkGetItem], _ query: DocumentQuery, _ collection: ReplicatedCollection
        ) -> Response {
            .streamed { stream in
                try await stream.write("{\"results\":[")
                var pages = BulkGetPages(items, query, .json, collection)
                var isFirst = true
                while let page = try await pages.next() {
                    for (item, results) in page {
                        var writer = WireJSONWriter()
                        if !isFirst { writer.raw(",") }
                        isFirst = false
                        writer.raw("{\"id\":")
                        writer.value(item.id)
                        writer.raw(",\"docs\":[")
                        try await stream.write(writer.finish())
                        for (index, result) in results.enumerated() {
                            if index > 0 { try await stream.write(",") }
                            switch result {
                            case .success(let answer):
                                try await stream.write("{\"ok\":")
                                try await AnswerText(answer).write(to: &stream, of: collection)
                                try await stream.write("}")
                            case .failure(let failure):
                                try await stream.write("{\"error\":\(failure.json)}")
                            }
                        }
                        try await stream.write("]}")
                    }
                }
                try await stream.write("]}\n")
            }
        }

        private static func parts(
            _ items: [BulkGetItem], _ query: DocumentQuery, _ subtype: String, _ collection: ReplicatedCollection
        ) -> Response {
            let outer = MultipartWriter(boundary: "--\(NewDocumentID.make())")
            var query = query
            query.parts.includesAttachments = true
            let wanted = query
            return .streamed(headers: [.contentType: outer.contentType(subtype)]) { stream in
                var outer = outer
                var pages = BulkGetPages(items, wanted, .multipart, collection)
                while let page = try await pages.next() {
                    for result in page.flatMap(\.results) {
                        switch result {
                        case .success(let answer):
                            try await write(answer, to: &stream, &outer, collection)
                        case .failure(let failure):
                            try await stream.write(
                                outer.begin([("Content-Type", "application/json; error=\"true\"")]))
                            try await stream.write(failure.json)
                        }
                    }
                }
                guard !items.isEmpty else { return }
                try await stream.write(outer.end())
                try await stream.write("\r\n")
            }
        }

        private static func write(
            _ answer: RevisionAnswer, to stream: inout AnswerStream, _ outer: inout MultipartWriter,
            _ collection: ReplicatedCollection
        ) async throws {
            let related = RelatedAnswer(answer, collection)
            guard !related.isPlain else {
                try await stream.write(outer.beginJSON())
                return try await related.writePlain(to: &stream)
            }
            let inner = MultipartWriter(boundary: "--\(NewDocumentID.make())")
            let head = [
                ("X-Doc-Id", answer.text.id), ("X-Rev-Id", answer.text.revision),
                ("Content-Type", "multipart/related; boundary=\(inner.boundary)"),
            ]
            try await stream.write(outer.begin(head))
            try await related.write(to: &stream, inner)
        }
    }
#endif
