#if TansuSync
import Tansu
import TansuBSON

/// A revision as a client names it.
///
/// CouchDB takes texts that no revision here can have, such as `0-abc`, and then finds no document that has them.
package enum WireRevision: Sendable, Hashable {
    /// A revision that a document can have.
    case revision(Revision)
    /// A text that CouchDB takes, and that is no revision of any document.
    case unknown(BytewiseText)

    /// Reads a revision as CouchDB does.
    ///
    /// - Throws: ``WireError`` when there is no number before a dash, or 32 characters that are not all hex digits after it.
    package init(_ text: String) throws(WireError) {
        do {
            self = .revision(try Revision(Substring(text)))
        } catch {
            guard Self.isTaken(text, error) else { throw .invalidRevision }
            self = .unknown(BytewiseText(text))
        }
    }

    /// Whether CouchDB takes a text that is no revision here.
    private static func isTaken(_ text: String, _ error: RevisionError) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), maxSplits: 1, omittingEmptySubsequences: false)
        switch error.code {
        case .generationTooSmall: return parts.first?.isEmpty == false
        case .generationTooLarge, .hashTooLong: return true
        case .invalidHash: return parts.last?.count != 32
        default: return false
        }
    }

    /// The revision as the client wrote it, but for upper-case digits.
    package var text: String {
        switch self {
        case .revision(let revision): revision.description
        case .unknown(let text): text.text
        }
    }

    /// The revision, or nil when no document can have it.
    package var revision: Revision? {
        guard case .revision(let revision) = self else { return nil }
        return revision
    }
}

/// A stored revision, and what of it a request asks for, as the JSON text that CouchDB answers.
package struct WireRevisionText: Sendable {
    /// One member of `_attachments`.
    package struct Attachment: Sendable {
        /// How the bytes are sent.
        package enum Content: Sendable {
            /// Not at all.
            case stub
            /// As base64 in the JSON text, not compressed: at a hole of the writer.
            case inline
            /// In a part of their own after the JSON text.
            case follows
        }

        /// The attachment.
        package var file: AttachmentFile
        /// How its bytes are sent.
        package var content: Content

        package init(_ file: AttachmentFile, _ content: Content = .stub) {
            self.file = file
            self.content = content
        }
    }

    /// `_id`.
    package var id: String
    /// `_rev`.
    package var revision: String
    /// Whether `_deleted` is written.
    package var isDeleted = false
    /// The fields.
    package var fields: BSONDocument
    /// `_revisions`.
    package var path: RevisionPath?
    /// `_revs_info`, newest first.
    package var history: [(revision: Revision, status: String)]?
    /// `_local_seq`.
    package var localSequence: Int64?
    /// `_conflicts`, written unless it is empty.
    package var conflicts: [Revision] = []
    /// `_deleted_conflicts`, written unless it is empty.
    package var deletedConflicts: [Revision] = []
    /// `_attachments`, written unless it is empty.
    package var attachments: [Attachment] = []
    /// Whether stubs say how the stored bytes are compressed.
    package var showsEncoding = false

    /// Creates the text of a revision.
    package init(id: String, revision: Revision, isDeleted: Bool = false, fields: BSONDocument) {
        self.id = id
        self.revision = revision.description
        self.isDeleted = isDeleted
        self.fields = fields
    }

    /// Creates the text of a `_local/…` document, whose revisions are numbers.
    package init(localID id: String, revision: Int64, fields: BSONDocument) {
        self.id = id
        self.revision = "0-\(revision)"
        self.fields = fields
    }

    /// The JSON text, of a revision without attachments in it.
    package func json(_ form: WireJSONForm = .extended) -> [UInt8] {
        var writer = WireJSONWriter(form, capacity: fields.bytes.count + 128)
        write(to: &writer)
        return writer.finish()
    }

    /// Appends the JSON text.
    package func write(to writer: inout WireJSONWriter) {
        writer.raw("{\"_id\":")
        writer.string(id)
        writer.raw(",\"_rev\":")
        writer.string(revision)
        writer.members(of: fields, followsMember: true)
        if isDeleted { writer.raw(",\"_deleted\":true") }
        writeHistory(to: &writer)
        if let localSequence {
            writer.raw(",\"_local_seq\":")
            writer.integer(localSequence)
        }
        Self.write("_conflicts", conflicts, to: &writer)
        Self.write("_deleted_conflicts", deletedConflicts, to: &writer)
        writeAttachments(to: &writer)
        writer.raw("}")
    }

    private func writeHistory(to writer: inout WireJSONWriter) {
        if let path {
            writer.raw(",\"_revisions\":{\"start\":")
            writer.integer(Int64(path.revision.generation))
            writer.raw(",\"ids\":[")
            writer.list(path.ids) { $0.string($1) }
            writer.raw("]}")
        }
        if let history {
            writer.raw(",\"_revs_info\":[")
            writer.list(history) { writer, entry in
                writer.raw("{\"rev\":")
                writer.string(entry.revision.description)
                writer.raw(",\"status\":")
                writer.string(entry.status)
                writer.raw("}")
            }
            writer.raw("]")
        }
    }

    private static func write(_ name: StaticString, _ revisions: [Revision], to writer: inout WireJSONWriter) {
        guard !revisions.isEmpty else { return }
        writer.raw(",\"")
        writer.raw(name)
        writer.raw("\":[")
        writer.list(revisions) { $0.string($1.description) }
        writer.raw("]")
    }

    private func writeAttachments(to writer: inout WireJSONWriter) {
        guard !attachments.isEmpty else { return }
        writer.raw(",\"_attachments\":{")
        writer.list(attachments) { writer, attachment in
            writer.string(attachment.file.name)
            writer.raw(":")
            write(attachment, to: &writer)
        }
        writer.raw("}")
    }

    private func write(_ attachment: Attachment, to writer: inout WireJSONWriter) {
        let file = attachment.file
        writer.raw("{\"content_type\":")
        writer.string(file.contentType)
        writer.raw(",\"revpos\":")
        writer.integer(Int64(file.revpos))
        writer.raw(",\"digest\":")
        writer.string(file.digest)
        var saysEncoding = showsEncoding
        switch attachment.content {
        case .inline:
            writer.raw(",\"data\":\"")
            writer.hole()
            writer.raw("\"")
        case .stub:
            writer.raw(",\"length\":")
            writer.integer(file.length)
            writer.raw(",\"stub\":true")
        case .follows:
            writer.raw(",\"length\":")
            writer.integer(file.length)
            writer.raw(",\"follows\":true")
            // The part has the bytes as they are stored.
            saysEncoding = true
        }
        if saysEncoding, let encoding = file.encoding {
            writer.raw(",\"encoding\":")
            writer.string(encoding)
            writer.raw(",\"encoded_length\":")
            writer.integer(file.encodedLength ?? file.length)
        }
        writer.raw("}")
    }
}

extension WireJSONWriter {
    /// Appends elements with commas between them.
    package mutating func list<Element>(
        _ elements: some Sequence<Element>, _ write: (inout WireJSONWriter, Element) -> Void
    ) {
        var isFirst = true
        for element in elements {
            if !isFirst { raw(",") }
            isFirst = false
            write(&self, element)
        }
    }
}
#endif
