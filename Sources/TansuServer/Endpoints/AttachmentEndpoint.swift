#if TansuServer
import Foundation
import HTTPTypes
import HummingbirdCore
import Tansu
import TansuBSON
import TansuSync

/// `/{db}/{id}/{attachment}`
enum AttachmentEndpoint {
    static let allow = "DELETE,GET,HEAD,PUT"

    static func get(_ request: ServerRequest, _ id: String, _ name: String) async throws -> Response {
        let query = try DocumentQuery(request.query)
        let collection = try request.collection()
        let file = try await collection.read { store in
            let answer = try RevisionAnswer.find(id, query.withoutAttachments, .multipart, in: store)
            return answer.text.attachments.first { $0.file.name == name }?.file
        }
        guard let file else { throw HTTPFailure.notFound("Document is missing attachment") }
        return try AttachmentAnswer(request, file, collection).response()
    }

    static func put(_ request: ServerRequest, _ id: String, _ name: String) async throws -> Response {
        try DocumentName.validate(attachment: name)
        if id.hasPrefix(DocumentName.designPrefix) { try request.requireDatabaseAdmin() }
        let collection = try request.collection()
        let revision = try request.editedRevision()
        let base = try await base(id, revision, collection)
        if base == nil { try DocumentName.validate(id: id) }
        let uploads = AttachmentUploads(request)
        defer { uploads.release() }
        let file = try await uploads.store(request, name)
        var attachments: [EditedAttachment] = [.file(file)]
        attachments += base.kept(without: name)
        let edit = DocumentEdit(
            id: id, parent: try DocumentEdit.parent(revision), isDeleted: false, fields: base?.fields ?? [:],
            attachments: attachments)
        let saved = try await DocumentWriting.save(edit, collection)
        let path = "/\(request.databaseName)/\(URLText.encoded(id))/\(URLText.encoded(name))"
        return .saved(id, saved, headers: [.location: request.url(path)])
    }

    static func delete(_ request: ServerRequest, _ id: String, _ name: String) async throws -> Response {
        try DocumentName.validate(attachment: name)
        if id.hasPrefix(DocumentName.designPrefix) { try request.requireDatabaseAdmin() }
        let collection = try request.collection()
        let revision = try request.editedRevision()
        let base: RevisionBody?
        if revision == nil {
            base = try await current(id, collection)
        } else {
            base = try await self.base(id, revision, collection)
        }
        guard let base, base.files.contains(where: { $0.name == name }) else {
            throw HTTPFailure.notFound("Document is missing attachment")
        }
        let edit = DocumentEdit(
            id: id, parent: try DocumentEdit.parent(revision), isDeleted: false, fields: base.fields,
            attachments: Optional(base).kept(without: name))
        return .saved(id, try await DocumentWriting.save(edit, collection), status: .ok)
    }

    /// The revision that is edited; nil when none is named, so that the document must not exist.
    private static func base(
        _ id: String, _ revision: WireRevision?, _ collection: ReplicatedCollection
    ) async throws -> RevisionBody? {
        guard let revision, !revision.isEmpty else { return nil }
        let body = try await collection.read { store -> RevisionBody? in
            guard let named = revision.revision, let record = try store.document(id) else { return nil }
            return try store.body(of: record, named)
        }
        guard let body else { throw HTTPFailure.revisionMissing }
        return body
    }

    /// The document as it is.
    private static func current(_ id: String, _ collection: ReplicatedCollection) async throws -> RevisionBody? {
        try await collection.read { store in
            guard let record = try store.document(id) else { throw HTTPFailure.notFound() }
            if record.isDeleted { throw HTTPFailure.deleted }
            return try store.body(of: record, record.winner)
        }
    }
}

extension RevisionBody? {
    /// The attachments but one, kept as they are.
    fileprivate func kept(without name: String) -> [EditedAttachment] {
        (self?.files ?? []).filter { $0.name != name }
            .map { .stub(name: $0.name, digest: nil, revpos: nil) }
    }
}

extension DocumentQuery {
    /// This, for the list of attachments only.
    fileprivate var withoutAttachments: DocumentQuery {
        var query = self
        query.parts = RevisionParts()
        return query
    }
}

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

// MARK: - AnswerStream: attachments

extension AnswerStream {
    /// Writes the bytes of an attachment in pieces.
    mutating func write(
        _ file: AttachmentFile, of collection: ReplicatedCollection, range: Range<Int64>? = nil, decoded: Bool
    ) async throws {
        let bytes = try AttachmentBytes(collection.database, file, range: range, decoded: decoded)
        for try await piece in bytes { try await write(piece) }
    }

    /// Writes the bytes of an attachment, not compressed, as base64.
    mutating func write(base64 file: AttachmentFile, of collection: ReplicatedCollection) async throws {
        // Three bytes give four digits, whatever the pieces are.
        var rest = Data()
        for try await piece in try AttachmentBytes(collection.database, file) {
            rest.append(contentsOf: piece)
            let whole = rest.count - rest.count % 3
            try await write(rest.prefix(whole).base64EncodedData())
            rest = Data(rest.dropFirst(whole))
        }
        try await write(rest.base64EncodedData())
    }
}

// MARK: - ByteRanges

/// The ranges of bytes that a header `Range` asks for.
enum ByteRanges: Equatable {
    /// All bytes: there is no header, or none that means something.
    case all
    case parts([Range<Int64>])

    /// More ranges than this are answered with all bytes.
    private static let maximumCount = 9

    /// - Throws: ``HTTPFailure`` with 416 when a range begins after the end.
    init(_ header: String?, length: Int64) throws {
        guard let list = header?.dropping(prefix: "bytes=") else {
            self = .all
            return
        }
        var ranges: [Range<Int64>] = []
        for text in list.parts(separatedBy: ",") {
            guard let bounds = Self.bounds(text.trimmingSpaces, length) else {
                self = .all
                return
            }
            guard bounds.first <= bounds.last else { throw HTTPFailure.rangeNotSatisfiable }
            ranges.append(bounds.first..<bounds.last + 1)
        }
        self = ranges.isEmpty || ranges.count > Self.maximumCount ? .all : .parts(ranges)
    }

    /// The first and the last byte; nil when the text is no range.
    private static func bounds(_ text: String, _ length: Int64) -> (first: Int64, last: Int64)? {
        let parts = text.parts(separatedBy: "-")
        guard parts.count == 2, parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }) else {
            return nil
        }
        switch (Int64(parts[0]), Int64(parts[1])) {
        case (let first?, let last?):
            if last < first { return (1, 0) }
            return (first, min(last, length - 1))
        case (let first?, nil) where parts[1].isEmpty: return (first, length - 1)
        case (nil, let count?) where parts[0].isEmpty && count > 0: return (max(0, length - count), length - 1)
        default: return nil
        }
    }
}

extension HTTPFailure {
    static var rangeNotSatisfiable: HTTPFailure {
        HTTPFailure(.rangeNotSatisfiable, "requested_range_not_satisfiable", "Requested range not satisfiable")
    }
}
#endif
