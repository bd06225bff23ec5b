#if TansuServer
    import Crypto
    import Foundation
    import HTTPTypes
    import NIOCore
    import Tansu
    import TansuBSON
    import TansuSync

    /// The attachments that a request brings. Their bytes are stored before a document names them; until then this
    /// object holds them.
    final class AttachmentUploads: Sendable {
        private let database: Database
        private let limit: Int
        private let state = Locked(State())

        private struct State {
            var writers: [BlobWriter] = []
            var files: [BytewiseText: AttachmentFile] = [:]
        }

        init(_ request: ServerRequest) {
            database = request.database
            limit = request.limits.attachmentBytes
        }

        /// Lets go of what no document names.
        func release() {
            let writers = state.withLock { $0.writers }
            for writer in writers { writer.release() }
        }

        /// Begins an attachment.
        func writer(_ contentType: String, encoding: BlobEncoding) throws -> BlobWriter {
            let writer = try BlobWriter(
                database, contentType: contentType, encoding: encoding, decodedLimit: Int64(limit))
            state.withLock { $0.writers.append(writer) }
            return writer
        }

        /// Stores an attachment of a JSON text.
        func store(_ bytes: [UInt8], _ attachment: WireAttachment) throws -> AttachmentFile {
            guard bytes.count <= limit else { throw HTTPFailure.attachmentTooLarge }
            let writer = try writer(attachment.contentType, encoding: .automatic)
            try writer.write(bytes)
            return try writer.finish(name: attachment.name, revpos: attachment.revpos ?? 0)
        }

        /// Stores the body of a request.
        func store(_ request: ServerRequest, _ name: String) async throws -> AttachmentFile {
            let encoding: BlobEncoding
            switch request[.contentEncoding]?.trimmingSpaces.asciiLowercased {
            case nil, "", "identity": encoding = .automatic
            case "gzip": encoding = .stored("gzip")
            default: throw HTTPFailure.badContentType("Only gzip and identity content-encodings are supported")
            }
            if let length = request.contentLength, length > limit { throw HTTPFailure.attachmentTooLarge }
            let writer = try writer(request[.contentType] ?? WireAttachment.defaultContentType, encoding: encoding)
            var count = 0
            for try await part in request.body {
                count += part.readableBytes
                guard count <= limit else { throw HTTPFailure.attachmentTooLarge }
                try writer.write(Array(part.readableBytesView))
            }
            if let field = HTTPField.Name("Content-MD5"), let expected = request[field],
                expected != Data(writer.receivedDigest).base64EncodedString()
            {
                throw HTTPFailure(.badRequest, "content_md5_mismatch", "Possible message corruption.")
            }
            return try writer.finish(name: name)
        }

        /// The attachment of a part of the request.
        func file(_ name: String) -> AttachmentFile? { state.withLock { $0.files[BytewiseText(name)] } }

        func add(_ file: AttachmentFile) { state.withLock { $0.files[BytewiseText(file.name)] = file } }
    }
#endif
