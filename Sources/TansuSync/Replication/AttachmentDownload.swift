#if TansuSync
    import TansuBSON

    /// Reads the stored bytes of an attachment from a server. When the connection breaks it goes on where it was.
    ///
    /// `@unchecked Sendable`: a stream has one reader.
    final class AttachmentDownload: @unchecked Sendable {
        private let database: RemoteDatabase
        private let path: String
        private let revision: Revision
        private let headers: [HTTPField]
        private var stream: ByteStream?
        /// The bytes that were given to the reader.
        private var received: Int64 = 0
        /// The bytes that come once more, because the server does not begin in the middle.
        private var skipped: Int64 = 0

        init(_ database: RemoteDatabase, _ path: String, _ revision: Revision, acceptsGzip: Bool) {
            self.database = database
            self.path = path
            self.revision = revision
            headers = [
                HTTPField("accept", "*/*"), HTTPField("accept-encoding", acceptsGzip ? "gzip" : "identity"),
            ]
        }

        /// Waits for the beginning.
        ///
        /// - Returns: How the bytes are compressed; nil when they are not.
        func begin() async throws -> String? {
            try await database.retrying { try await request() }
        }

        private func request() async throws -> String? {
            var headers = headers
            if received > 0 { headers.append(HTTPField("range", "bytes=\(received)-")) }
            let answer = try await database.send(
                "GET", path, query: [("rev", revision.description)], headers: headers)
            guard answer.status == 200 || answer.status == 206 else { throw try await RemoteDatabase.failure(answer) }
            skipped = answer.status == 206 ? 0 : received
            stream = answer.body
            let encoding = answer["content-encoding"]?.asciiLowercased
            return encoding == "identity" ? nil : encoding
        }

        func next() async throws -> [UInt8]? {
            try await database.retrying {
                do {
                    if stream == nil { _ = try await request() }
                    return try await piece()
                } catch {
                    stream = nil
                    throw error
                }
            }
        }

        private func piece() async throws -> [UInt8]? {
            while let bytes = try await stream?.next() {
                guard skipped < bytes.count else {
                    skipped -= Int64(bytes.count)
                    continue
                }
                let rest = skipped == 0 ? bytes : Array(bytes[Int(skipped)...])
                skipped = 0
                received += Int64(rest.count)
                return rest
            }
            return nil
        }
    }
#endif
