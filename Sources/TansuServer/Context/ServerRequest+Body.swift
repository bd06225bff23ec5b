#if TansuServer
    import HTTPTypes
    import HummingbirdCore
    import NIOCore
    import TansuBSON
    import TansuSync

    extension ServerRequest {
        /// The whole body.
        ///
        /// - Parameter limit: The most bytes; the limit of the server's options when nil.
        /// - Throws: ``HTTPFailure`` with 413 when it is larger, which is known before anything is read if the client
        ///   has announced its length.
        package func collectedBody(upTo limit: Int? = nil) async throws -> ByteBuffer {
            let limit = limit ?? server.options.limits.requestBytes
            if let length = contentLength, length > limit { throw HTTPFailure.tooLarge() }
            switch self[.contentEncoding]?.trimmingSpaces.asciiLowercased ?? "identity" {
            case "identity", "": return try await plainBody(limit)
            case "gzip": return try await decompressedBody(limit)
            case let encoding:
                throw HTTPFailure.badContentType("\(encoding) is not a supported content encoding.")
            }
        }

        private func plainBody(_ limit: Int) async throws -> ByteBuffer {
            var collected = ByteBuffer()
            for try await part in body {
                guard collected.readableBytes + part.readableBytes <= limit else { throw HTTPFailure.tooLarge() }
                if collected.readableBytes == 0 { collected = part } else { collected.writeImmutableBuffer(part) }
            }
            return collected
        }

        /// The limit is that of the decompressed bytes, so that few bytes cannot become many.
        private func decompressedBody(_ limit: Int) async throws -> ByteBuffer {
            let malformed = HTTPFailure.badRequest("Request body is not properly gzipped.")
            let stream = try GzipStream(compressing: false)
            var collected = ByteBuffer()
            for try await var part in body {
                while let piece = part.readBytes(length: min(part.readableBytes, 64 << 10)), !piece.isEmpty {
                    stream.feed(piece)
                    do {
                        while let bytes = try stream.pull() {
                            guard collected.readableBytes + bytes.count <= limit else { throw HTTPFailure.tooLarge() }
                            collected.writeBytes(bytes)
                        }
                    } catch let error as AttachmentError where error.code == .invalidEncoding {
                        throw malformed
                    }
                }
            }
            guard stream.isAtEnd else { throw malformed }
            return collected
        }

        /// The body as plain JSON, in which `$…` members mean nothing.
        package func json(upTo limit: Int? = nil) async throws -> BSONValue {
            let bytes = try await collectedBody(upTo: limit)
            do {
                return try BSONValue(plainJSON: bytes.readableBytesView)
            } catch {
                throw HTTPFailure.invalidJSON
            }
        }

        /// The body as a JSON object.
        package func jsonObject(upTo limit: Int? = nil) async throws -> BSONDocument {
            guard case .document(let document) = try await json(upTo: limit) else {
                throw HTTPFailure.badRequest("Request body must be a JSON object")
            }
            return document
        }

        /// The body as a JSON object whose keys are ids of documents.
        package func jsonMembers() async throws -> [(key: String, value: BSONValue)] {
            let bytes = Array(try await collectedBody().readableBytesView)
            let members: [(key: String, value: BSONValue)]?
            do { members = try WireObject.members(json: bytes) } catch { throw HTTPFailure.invalidJSON }
            guard let members else { throw HTTPFailure.badRequest("Request body must be a JSON object") }
            return members
        }

        /// - Throws: ``HTTPFailure`` with 415 unless the body is announced as JSON.
        package func requireJSONContentType() throws {
            guard mediaType == "application/json" else {
                throw HTTPFailure.badContentType("Content-Type must be application/json")
            }
        }

        /// The media type of the body in lower case, without parameters.
        package var mediaType: String? {
            head.headerFields[.contentType].map { type in
                type.prefixUntil(";").trimmingSpaces.asciiLowercased
            }
        }
    }
#endif
