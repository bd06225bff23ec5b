#if TansuServer
    import HTTPTypes
    import HummingbirdCore
    import TansuSync

    /// A document with its attachments as `multipart/related`: the JSON text first, then each file as it is stored.
    struct RelatedAnswer: Sendable {
        private let answer: RevisionAnswer
        private let collection: ReplicatedCollection
        private let json: [UInt8]

        init(_ answer: RevisionAnswer, _ collection: ReplicatedCollection) {
            self.answer = answer
            self.collection = collection
            json = answer.text.json()
        }

        /// Whether there is nothing but JSON.
        var isPlain: Bool { answer.sent.isEmpty }

        func response(_ headers: HTTPFields) -> Response {
            let writer = MultipartWriter()
            var headers = headers
            headers[.contentType] = writer.contentType("related")
            let length = writer.length(json: json.count, files: answer.sent)
            return .streamed(headers: headers, length: Int(length)) { stream in
                try await write(to: &stream, writer)
            }
        }

        /// Writes the parts.
        func write(to stream: inout AnswerStream, _ writer: MultipartWriter) async throws {
            var writer = writer
            try await stream.write(writer.beginJSON())
            try await stream.write(json)
            for file in answer.sent {
                try await stream.write(writer.begin(file))
                try await stream.write(file, of: collection, decoded: false)
            }
            try await stream.write(writer.end())
        }

        /// Writes the JSON text without parts.
        func writePlain(to stream: inout AnswerStream) async throws {
            try await stream.write(json)
        }
    }
#endif
