#if TansuSync
import Tansu
import TansuBSON

extension HTTPPeer {
    func write(_ revisions: [PeerRevision]) async throws -> [String?] {
        var reasons = [String?](repeating: nil, count: revisions.count)
        let plain = revisions.indices.filter { revisions[$0].attachments.isEmpty }
        try await writeTogether(plain[...], of: revisions, &reasons)
        for index in revisions.indices where !revisions[index].attachments.isEmpty {
            reasons[index] = try await writeAlone(revisions[index])
        }
        return reasons
    }

    // MARK: Many documents

    /// Writes revisions without attachments with `_bulk_docs`. When the server refuses the whole of it, for its size
    /// or for one document, halves are written.
    private func writeTogether(
        _ indices: ArraySlice<Int>, of revisions: [PeerRevision], _ reasons: inout [String?]
    ) async throws {
        guard let first = indices.first else { return }
        var writer = WireJSONWriter(form, capacity: indices.reduce(64) { $0 + revisions[$1].size })
        writer.raw("{\"new_edits\":false,\"docs\":[")
        writer.list(indices) { writer, index in revisions[index].text.write(to: &writer) }
        writer.raw("]}")
        let (status, value) = try await database.json(
            "POST", "_bulk_docs", body: writer.finish(), accepted: [400, 413, 415, 417, 422],
            limit: RemoteDatabase.elementLimit)
        guard !(200..<300 ~= status) else {
            try note(value, indices, of: revisions, &reasons)
            return
        }
        guard indices.count > 1 else {
            reasons[first] = Self.words(value) ?? "The server answers \(status)"
            return
        }
        let middle = indices.startIndex + indices.count / 2
        try await writeTogether(indices[..<middle], of: revisions, &reasons)
        try await writeTogether(indices[middle...], of: revisions, &reasons)
    }

    /// Notes which revisions the server refused. It lists only these, some servers all.
    private func note(
        _ value: BSONValue, _ indices: ArraySlice<Int>, of revisions: [PeerRevision], _ reasons: inout [String?]
    ) throws {
        guard case .array(let results) = value else {
            throw RemoteFailure.invalidAnswer("_bulk_docs answers no list")
        }
        for result in results where result["error"] != nil {
            guard let id = result["id"]?.stringValue else {
                throw RemoteFailure.invalidAnswer("_bulk_docs answers an error, and not of which document")
            }
            let revision = result["rev"]?.stringValue
            for index in indices where BytewiseText(revisions[index].id) == BytewiseText(id) {
                guard revision == nil || revision == revisions[index].path.revision.description else { continue }
                reasons[index] = Self.words(result) ?? "The server gives no reason"
            }
        }
    }

    private static func words(_ value: BSONValue) -> String? {
        let words = ["error", "reason"].compactMap { value[$0]?.stringValue }.joined(separator: ": ")
        return words.isEmpty ? nil : words
    }

    // MARK: One document

    /// Writes a revision with attachments. The bytes of those that its ancestor at the server has are not sent.
    private func writeAlone(_ revision: PeerRevision) async throws -> String? {
        do {
            let known = revision.newestKnownGeneration
            guard known > 0 else { return try await put(revision, knownGeneration: 0) }
            do { return try await put(revision, knownGeneration: known) } catch let failure as RemoteFailure
                where failure.status == 412
            {
                // The server has the ancestor without the bytes.
                return try await put(revision, knownGeneration: 0)
            }
        } catch let error where error.isOfAttachment {
            // Damaged at the source, or removed there meanwhile, and then a newer revision follows.
            return error.localizedDescription
        }
    }

    private func put(_ revision: PeerRevision, knownGeneration: Int) async throws -> String? {
        var text = revision.text
        let sent = revision.attachments.filter { $0.revpos == 0 || $0.revpos > knownGeneration }
        text.attachments = revision.attachments.map { attachment in
            let isSent = attachment.revpos == 0 || attachment.revpos > knownGeneration
            return WireRevisionText.Attachment(attachment.file, isSent ? .follows : .stub)
        }
        let json = text.json(form)
        let path = RemoteURL.path(ofDocument: revision.id)
        let query = [("new_edits", "false")]
        // Of bytes that are sent, 412 says that they are not those of the digest.
        var refusals: Set = [400, 403, 404, 409, 413, 415, 422]
        if knownGeneration == 0 { refusals.insert(412) }
        let answer: (status: Int, value: BSONValue)
        if sent.isEmpty {
            answer = try await database.json("PUT", path, query: query, body: json, accepted: refusals)
        } else {
            let writer = MultipartWriter()
            answer = try await database.perform(
                "PUT", path, query: query,
                body: .stream(
                    type: writer.contentType("related"),
                    length: writer.length(json: json.count, files: sent.map(\.file)),
                    { RelatedUpload(writer, json, sent).stream }), accepted: refusals
            ) { answer in
                let bytes = try await RemoteDatabase.decoded(answer).all(limit: RemoteDatabase.smallAnswer)
                return (answer.status, try RemoteDatabase.value(bytes))
            }
        }
        guard !(200..<300 ~= answer.status) else { return nil }
        return Self.words(answer.value) ?? "The server answers \(answer.status)"
    }
}

extension PeerRevision {
    /// What is sent of it, without its attachments.
    fileprivate var text: WireRevisionText {
        var text = WireRevisionText(id: id, revision: path.revision, isDeleted: isDeleted, fields: fields)
        text.path = path
        return text
    }

    /// The generation of the newest ancestor that the receiver has; 0 when it has none.
    fileprivate var newestKnownGeneration: Int {
        guard !ancestors.isEmpty else { return 0 }
        let known = Set(ancestors)
        return path.revisions.dropFirst().first { known.contains($0) }?.generation ?? 0
    }
}

extension PeerAttachment {
    /// What is written of it; its bytes are not stored here.
    fileprivate var file: AttachmentFile {
        AttachmentFile(
            name: name, contentType: contentType, digest: digest, length: length, revpos: revpos,
            encoding: encoding, encodedLength: encodedLength, blob: BlobID(bytes: []))
    }
}

/// The body of a document with the bytes of its attachments after it: `multipart/related`.
///
/// `@unchecked Sendable`: a stream has one reader.
private final class RelatedUpload: @unchecked Sendable {
    private var writer: MultipartWriter
    private let json: [UInt8]
    private var attachments: ArraySlice<PeerAttachment>
    private var isBegun = false
    private var isEnded = false
    private var current: (attachment: PeerAttachment, bytes: ByteStream, missing: Int64)?

    init(_ writer: MultipartWriter, _ json: [UInt8], _ attachments: [PeerAttachment]) {
        self.writer = writer
        self.json = json
        self.attachments = attachments[...]
    }

    var stream: ByteStream { ByteStream { try await self.next() } }

    private func next() async throws -> [UInt8]? {
        guard isBegun else {
            isBegun = true
            return writer.beginJSON() + json
        }
        if let piece = try await piece() { return piece }
        guard let attachment = attachments.popFirst() else {
            guard !isEnded else { return nil }
            isEnded = true
            return writer.end()
        }
        let bytes = try await Self.reading { try await attachment.open() }
        guard bytes.encoding == attachment.encoding else {
            throw SyncError(
                .invalidEncoding,
                "The source sends attachment \"\(attachment.name)\" compressed in another way than it said")
        }
        current = (attachment, bytes.stream, attachment.encodedLength ?? attachment.length)
        return writer.begin(attachment.file)
    }

    /// The next bytes of the attachment that is sent; nil after its end.
    private func piece() async throws -> [UInt8]? {
        guard let (attachment, bytes, missing) = current else { return nil }
        let piece = try await Self.reading { try await bytes.next() }
        let left = missing - Int64(piece?.count ?? 0)
        // The length of the request is announced already.
        guard left >= 0, piece != nil || left == 0 else {
            throw SyncError(
                .damaged,
                "The source sends another number of bytes of attachment \"\(attachment.name)\" than it said")
        }
        current = piece == nil ? nil : (attachment, bytes, left)
        return piece
    }

    /// Reads from the source. What it refuses for good is about the attachment, and no answer of the target.
    private static func reading<Result>(_ body: () async throws -> Result) async throws -> Result {
        do { return try await body() } catch let failure as RemoteFailure where !failure.isTransient {
            throw SyncError(.damaged, "The source does not send an attachment: \(failure.reason)")
        }
    }
}
#endif
