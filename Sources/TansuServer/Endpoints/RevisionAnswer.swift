#if TansuServer
import HTTPTypes
import HummingbirdCore
import Tansu
import TansuBSON
import TansuSync

/// A stored revision of which an answer is made.
struct RevisionAnswer: Sendable {
    /// How the bytes of attachments travel.
    enum Form: Sendable {
        /// In the JSON text (``AnswerText``).
        case json
        /// In parts of their own.
        case multipart
    }

    var text: WireRevisionText
    /// The attachments whose bytes are sent.
    var sent: [AttachmentFile]
    /// Keep the bytes of these while they are sent.
    private(set) var leases: [BlobLease]
    /// Whether it shows what changes without an edit of the document, so that it has no entity tag.
    var hasMeta: Bool

    /// Reads a revision; nil when it is not stored (any more).
    init?(
        _ record: DocumentRecord, _ revision: Revision, _ parts: RevisionParts, _ form: Form,
        in store: RevisionStore, isWinner: Bool
    ) throws {
        guard let body = try store.body(of: record, revision) else { return nil }
        text = WireRevisionText(
            id: record.id, revision: revision, isDeleted: body.isDeleted, fields: body.fields)
        text.showsEncoding = parts.includesEncoding
        if parts.includesPath { text.path = record.tree.path(of: revision, limit: store.revsLimit) }
        hasMeta = false
        sent = []
        leases = []
        // Only of the document as a whole, and not of a deleted one.
        if isWinner, !record.isDeleted { addMeta(record, parts) }

        let kept = Self.generationOfKnown(record, revision, parts)
        for file in body.files {
            let isSent = parts.mayIncludeAttachments && file.revpos > kept
            if isSent {
                // What is being removed belongs to a revision that has gone meanwhile.
                guard let lease = store.lease(on: file) else { return nil }
                leases.append(lease)
                sent.append(file)
            }
            text.attachments.append(.init(file, !isSent ? .stub : form == .json ? .inline : .follows))
        }
    }

    private mutating func addMeta(_ record: DocumentRecord, _ parts: RevisionParts) {
        if parts.includesHistory {
            text.history = record.tree.history(of: record.winner).map { ($0.revision, "\($0.status)") }
            hasMeta = true
        }
        if parts.includesConflicts { text.conflicts = record.tree.conflicts }
        if parts.includesDeletedConflicts { text.deletedConflicts = record.tree.deletedConflicts }
        if parts.includesSequence {
            text.localSequence = record.sequence
            hasMeta = true
        }
        if !text.conflicts.isEmpty || !text.deletedConflicts.isEmpty { hasMeta = true }
    }

    /// The newest generation of the revision's ancestors, itself included, whose attachments the client has.
    private static func generationOfKnown(
        _ record: DocumentRecord, _ revision: Revision, _ parts: RevisionParts
    ) -> Int {
        guard let since = parts.attachmentsSince, !since.isEmpty else { return -1 }
        let known = Set(since.compactMap(\.revision))
        return record.tree.history(of: revision).first { known.contains($0.revision) }?.revision.generation ?? -1
    }
}

extension RevisionAnswer {
    /// The document as it is, or a revision of it.
    ///
    /// - Throws: ``HTTPFailure`` with 404.
    static func find(
        _ id: String, _ query: DocumentQuery, _ form: Form, in store: RevisionStore
    ) throws -> RevisionAnswer {
        guard let record = try store.document(id) else { throw HTTPFailure.notFound() }
        if let revision = query.revision, !query.takesLatest {
            guard let revision = revision.revision,
                let answer = try RevisionAnswer(record, revision, query.parts, form, in: store, isWinner: false)
            else { throw HTTPFailure.notFound() }
            return answer
        }
        if record.isDeleted, !query.takesDeleted { throw HTTPFailure.deleted }
        guard let answer = try RevisionAnswer(record, record.winner, query.parts, form, in: store, isWinner: true)
        else { throw HTTPFailure.notFound() }
        return answer
    }
}

/// What an answer shows of a revision in addition to its fields.
struct RevisionParts: Sendable {
    /// `_revisions`
    var includesPath = false
    /// `_revs_info`
    var includesHistory = false
    /// `_conflicts`
    var includesConflicts = false
    /// `_deleted_conflicts`
    var includesDeletedConflicts = false
    /// `_local_seq`
    var includesSequence = false
    /// Whether attachments are sent with their bytes.
    var includesAttachments = false
    /// Attachments that these revisions have are not sent; nil: no such rule.
    var attachmentsSince: [WireRevision]?
    /// Whether stubs say how their bytes are compressed.
    var includesEncoding = false

    /// Whether some attachments may be sent with their bytes.
    var mayIncludeAttachments: Bool { includesAttachments || attachmentsSince?.isEmpty == false }
}

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
