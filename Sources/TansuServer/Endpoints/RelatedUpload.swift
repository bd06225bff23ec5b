#if TansuServer
import Crypto
import Foundation
import HTTPTypes
import NIOCore
import Tansu
import TansuBSON
import TansuSync

/// A document with its attachments in one `multipart/related` request: the JSON text, then the files.
///
/// The files have the order of the JSON text. One whose Content-Disposition names a later attachment is that one.
struct RelatedUpload {
    private let request: ServerRequest
    private let uploads: AttachmentUploads
    private var json: [UInt8] = []
    private var document: WireDocument?
    private var expected: [WireAttachment] = []
    private var current: (attachment: WireAttachment, writer: BlobWriter, count: Int64)?

    private init(_ request: ServerRequest, _ uploads: AttachmentUploads) {
        self.request = request
        self.uploads = uploads
    }

    /// Reads the whole request.
    ///
    /// - Returns: The document. Its attachments are among the uploads.
    static func read(_ request: ServerRequest, _ uploads: AttachmentUploads) async throws -> WireDocument {
        var upload = RelatedUpload(request, uploads)
        do throws(MultipartError) {
            var limits = MultipartParser.Limits()
            limits.partBytes = Int64(request.limits.attachmentBytes)
            var parser = try MultipartParser(MediaType(request[.contentType] ?? ""), limits: limits)
            try await upload.feed(&parser)
            // After a failure the rest is not read.
            if upload.failure == nil { try parser.finish() }
        } catch {
            if error.code == .partTooLarge { throw HTTPFailure.attachmentTooLarge }
            throw HTTPFailure.badRequest(error.message)
        }
        if let failure = upload.failure { throw failure }
        return try upload.finish()
    }

    /// What stopped the reading of the parts.
    private var failure: (any Error)?

    private mutating func feed(_ parser: inout MultipartParser) async throws(MultipartError) {
        var chunks = request.body.makeAsyncIterator()
        while failure == nil {
            let chunk: ByteBuffer?
            do {
                chunk = try await chunks.next()
            } catch {
                failure = error
                return
            }
            guard let chunk else { return }
            for event in try parser.push(chunk.readableBytesView) where failure == nil {
                do {
                    try take(event)
                } catch {
                    failure = error
                }
            }
        }
    }

    private mutating func take(_ event: MultipartParser.Event) throws {
        switch event {
        case .part(let head): if document != nil { try begin(head) }
        case .body(let bytes):
            if current != nil {
                try write(bytes)
            } else if document == nil {
                guard json.count + bytes.count <= request.limits.documentBytes else {
                    throw HTTPFailure.tooLarge()
                }
                json += bytes
            }
        case .partEnd:
            if current != nil {
                try end()
            } else if document == nil {
                let document = try WireDocument(json: json)
                expected = document.attachments.filter { $0.content == .follows }
                self.document = document
            }
        case .end: break
        }
    }

    private mutating func begin(_ head: MultipartHead) throws {
        guard !expected.isEmpty else {
            throw HTTPFailure.badRequest("A part of the request is no attachment that the document announces")
        }
        // The first one that the head fits, or else the next one. A name with a line break is in no header: only the order
        // decides there.
        let next = expected.startIndex
        let isNext = expected[next].name.utf8.contains { $0 == 0x0D || $0 == 0x0A }
        let index = isNext ? next : expected.firstIndex { head.fits($0.name) } ?? next
        var attachment = expected.remove(at: index)
        attachment.encoding = attachment.encoding ?? head.contentEncoding
        let encoding: BlobEncoding = attachment.encoding.map { .stored($0) } ?? .automatic
        let writer = try uploads.writer(attachment.contentType, encoding: encoding)
        current = (attachment, writer, 0)
    }

    private mutating func write(_ bytes: [UInt8]) throws {
        current?.count += Int64(bytes.count)
        if let current, let length = current.attachment.followingLength, current.count > length {
            throw HTTPFailure.badRequest("attachment longer than expected")
        }
        try current?.writer.write(bytes)
    }

    private mutating func end() throws {
        guard let (attachment, writer, count) = current else { return }
        current = nil
        if let length = attachment.followingLength, count < length {
            throw HTTPFailure.badRequest("attachment shorter than expected")
        }
        let digest = "md5-" + Data(writer.receivedDigest).base64EncodedString()
        if let expected = attachment.digest, expected != digest {
            throw HTTPFailure(
                .preconditionFailed, "content_md5_mismatch",
                "The bytes of attachment \(attachment.name) do not have its digest")
        }
        let length = attachment.encoding == nil ? nil : attachment.length
        // Deflate makes of no byte more than 1032.
        if let length, length / 1_032 > count {
            throw HTTPFailure.badRequest("attachment longer than its compressed bytes can be")
        }
        uploads.add(
            try writer.finish(name: attachment.name, revpos: attachment.revpos ?? 0, length: length))
    }

    private func finish() throws -> WireDocument {
        guard let document else { throw HTTPFailure.badRequest("The request has no document") }
        if let missing = expected.first {
            throw HTTPFailure.badRequest("The attachment \(missing.name) does not follow the document")
        }
        return document
    }
}

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
        if let expected = request[.contentMD5],
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
