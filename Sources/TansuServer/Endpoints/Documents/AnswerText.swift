#if TansuServer
    import HummingbirdCore
    import HTTPTypes
    import TansuBSON
    import TansuSync

    /// JSON text of which the attachments are read as it is sent: they may be larger than memory.
    struct AnswerText: Sendable {
        /// The text without attachments.
        private let bytes: [UInt8]
        /// Where attachments belong, in their order.
        private let holes: [Int]
        private let files: [AttachmentFile]
        private let leases: [BlobLease]

        /// Creates the text of one document, or of what has nothing but this document in it.
        ///
        /// - Parameter answer: The document; nil when there is none.
        init(_ writer: consuming WireJSONWriter, _ answer: RevisionAnswer?) {
            holes = writer.holes
            bytes = writer.finish()
            files = holes.isEmpty ? [] : answer?.sent ?? []
            leases = answer?.leases ?? []
        }

        /// Creates the text of a document.
        init(_ answer: RevisionAnswer) {
            var writer = WireJSONWriter(capacity: answer.text.fields.bytes.count + 128)
            answer.text.write(to: &writer)
            self.init(writer, answer)
        }

        /// The bytes that it holds in memory.
        var sizeInMemory: Int { bytes.count }

        /// The answer that has only this text. A line feed follows it, as in CouchDB.
        func response(_ headers: HTTPFields, _ collection: ReplicatedCollection) -> Response {
            guard !files.isEmpty else { return .json(bytes: bytes, headers: headers) }
            // Of what came compressed nobody has counted the bytes.
            let isCounted = files.allSatisfy { $0.encoding == nil || $0.length != $0.encodedLength }
            let length = bytes.count + files.reduce(0) { $0 + Self.base64Length($1) } + 1
            return .streamed(headers: .json.merging(headers), length: isCounted ? length : nil) { stream in
                try await write(to: &stream, of: collection)
                try await stream.write("\n")
            }
        }

        private static func base64Length(_ file: AttachmentFile) -> Int { (Int(file.length) + 2) / 3 * 4 }

        /// Sends the text.
        func write(to stream: inout AnswerStream, of collection: ReplicatedCollection) async throws {
            guard !holes.isEmpty else {
                // Of the many rows of a list few have attachments: nothing is awaited for the others, mostly.
                stream.append(bytes)
                if stream.isFull { try await stream.flush() }
                return
            }
            var position = 0
            for (hole, file) in zip(holes, files) {
                try await stream.write(bytes[position..<hole])
                try await stream.write(base64: file, of: collection)
                position = hole
            }
            try await stream.write(bytes[position...])
        }
    }
#endif
