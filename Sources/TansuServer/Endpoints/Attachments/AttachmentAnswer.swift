#if TansuServer
    import HTTPTypes
    import HummingbirdCore
    import TansuBSON
    import TansuSync

    /// The bytes of an attachment as an answer: as they are stored where the client takes that, else not compressed.
    struct AttachmentAnswer: Sendable {
        private let request: ServerRequest
        private let file: AttachmentFile
        private let collection: ReplicatedCollection

        init(_ request: ServerRequest, _ file: AttachmentFile, _ collection: ReplicatedCollection) {
            self.request = request
            self.file = file
            self.collection = collection
        }

        func response() throws -> Response {
            let tag = "\"\(file.digest.dropping(prefix: "md5-") ?? file.digest)\""
            if request.hasCurrent(tag) { return Response(status: .notModified, headers: [.eTag: tag]) }
            var headers: HTTPFields = [
                .eTag: tag, .cacheControl: "must-revalidate", .contentType: file.contentType,
                .acceptRanges: file.encoding == nil ? "bytes" : "none",
                // A page that somebody has attached must not run with the rights of whoever opens it. CouchDB says so too.
                .contentSecurityPolicy: "sandbox", .xContentTypeOptions: "nosniff",
            ]
            guard let encoding = file.encoding else { return try plain(headers, tag) }
            if acceptsEncoding(encoding) {
                headers[.contentEncoding] = encoding
                return whole(headers, length: file.encodedLength, decoded: false)
            }
            // Of what came compressed nobody has counted the bytes.
            return whole(headers, length: file.length == file.encodedLength ? nil : file.length, decoded: true)
        }

        private func acceptsEncoding(_ encoding: String) -> Bool {
            let header = request[.acceptEncoding] ?? ""
            return header.parts(separatedBy: ",").contains { part in
                let fields = part.parts(separatedBy: ";").map { $0.trimmingSpaces.asciiLowercased }
                return [encoding, "*"].contains(fields[0]) && !fields.contains("q=0")
            }
        }

        private func whole(_ headers: HTTPFields, length: Int64?, decoded: Bool) -> Response {
            .streamed(headers: headers, length: length.map { Int($0) }) { stream in
                try await stream.write(file, of: collection, decoded: decoded)
            }
        }

        private func plain(_ headers: HTTPFields, _ tag: String) throws -> Response {
            // The rest of what the client has another part of would not fit.
            let isSame = request[.ifRange].map { $0.trimmingSpaces == tag } ?? true
            guard case .parts(let ranges) = try ByteRanges(isSame ? request[.range] : nil, length: file.length) else {
                return whole(headers, length: file.length, decoded: false)
            }
            guard ranges.count == 1 else { return parts(ranges) }
            var headers = headers
            headers[.contentRange] = contentRange(ranges[0])
            return .streamed(status: .partialContent, headers: headers, length: ranges[0].count) { stream in
                try await stream.write(file, of: collection, range: ranges[0], decoded: false)
            }
        }

        private func contentRange(_ range: Range<Int64>) -> String {
            "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(file.length)"
        }

        private func parts(_ ranges: [Range<Int64>]) -> Response {
            let writer = MultipartWriter()
            let headers: HTTPFields = [.contentType: writer.contentType("byteranges")]
            return .streamed(status: .partialContent, headers: headers) { stream in
                var writer = writer
                for range in ranges {
                    let head = [("Content-Type", file.contentType), ("Content-Range", contentRange(range))]
                    try await stream.write(writer.begin(head))
                    try await stream.write(file, of: collection, range: range, decoded: false)
                }
                try await stream.write(writer.end())
            }
        }
    }
#endif
