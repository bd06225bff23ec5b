#if TansuServer
    import NIOCore
    import TansuSync

    extension ServerRequest {
        /// The body without its Content-Encoding.
        ///
        /// - Throws: ``HTTPFailure`` with 415 for another encoding than gzip, 413 when it is too large.
        func decoded(_ body: ByteBuffer, upTo limit: Int) throws -> ByteBuffer {
            switch self[.contentEncoding]?.trimmingSpaces.lowercased() {
            case nil, "", "identity": return body
            case "gzip": return try Self.gunzip(body, upTo: limit)
            case let other?: throw HTTPFailure.badContentType("\(other) is not a supported content encoding.")
            }
        }

        /// How many bytes are decompressed at once.
        private static let pieceSize = 64 << 10

        private static func gunzip(_ body: ByteBuffer, upTo limit: Int) throws -> ByteBuffer {
            var body = body
            var out = ByteBuffer()
            do {
                let stream = try GzipStream(compressing: false)
                while !stream.isAtEnd, body.readableBytes > 0 {
                    stream.feed(body.readBytes(length: min(pieceSize, body.readableBytes)) ?? [])
                    while let piece = try stream.pull() {
                        guard out.readableBytes + piece.count <= limit else { throw HTTPFailure.tooLarge() }
                        out.writeBytes(piece)
                    }
                }
                guard stream.isAtEnd else { throw HTTPFailure.badGzip }
                return out
            } catch let error as AttachmentError where error.code == .invalidEncoding {
                throw HTTPFailure.badGzip
            }
        }
    }

    extension HTTPFailure {
        fileprivate static var badGzip: HTTPFailure { .badRequest("Request body is not properly gzipped.") }
    }
#endif
