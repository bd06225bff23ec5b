#if TansuSync
import Foundation
import TansuBSON

/// A member of `_attachments` as a client sends it.
package struct WireAttachment: Sendable, Hashable {
    /// Where the bytes are.
    package enum Content: Sendable, Hashable {
        /// In the JSON text.
        case inline([UInt8])
        /// With the revision that was edited.
        case stub
        /// In a part of their own after the JSON text.
        case follows
    }

    /// Its name.
    @BytewiseText package var name: String
    /// Its media type.
    @BytewiseText package var contentType: String
    /// Where the bytes are.
    package var content: Content
    /// The digest of the bytes as they are sent, such as `md5-iMaiC8wqiFlD2NjLTemvCQ==`.
    package var digest: String?
    /// The generation of the revision that added the attachment.
    package var revpos: Int?
    /// The number of bytes before `encoding` was applied.
    package var length: Int64?
    /// How the bytes are compressed.
    package var encoding: String?
    /// The number of bytes that follow, when they are compressed.
    package var encodedLength: Int64?

    /// The media type that CouchDB takes when none is given.
    package static let defaultContentType = "application/octet-stream"

    /// The number of bytes in the part that follows, if the client said it.
    package var followingLength: Int64? { encoding == nil ? length : encodedLength ?? length }

    init(_ name: String, _ fields: BSONDocument) throws(WireError) {
        try DocumentName.validate(attachment: name)
        self.name = name
        contentType = fields["content_type"]?.stringValue ?? Self.defaultContentType
        digest = fields["digest"]?.stringValue
        revpos = fields["revpos"]?.int64Value.map { Int($0) }
        encoding = fields["encoding"]?.stringValue
        length = try Self.length(fields["length"], of: name)
        encodedLength = try Self.length(fields["encoded_length"], of: name)
        if fields["stub"]?.boolValue == true {
            content = .stub
        } else if fields["follows"]?.boolValue == true {
            content = .follows
        } else {
            guard case .string(let text) = fields["data"], let bytes = Self.bytes(base64: text) else {
                throw WireError(.badRequest, "Invalid attachment data for \(name)")
            }
            content = .inline(bytes)
        }
    }

    private static func length(_ value: BSONValue?, of name: String) throws(WireError) -> Int64? {
        guard let value else { return nil }
        guard let length = value.int64Value, length >= 0 else {
            throw WireError(.badRequest, "Invalid attachment length for \(name)")
        }
        return length
    }

    /// The attachments of `_attachments`. CouchDB skips members that are no objects.
    static func all(in members: BSONDocument) throws(WireError) -> [WireAttachment] {
        var attachments: [WireAttachment] = []
        for (name, value) in members {
            guard case .document(let fields) = value else { continue }
            attachments.append(try WireAttachment(name, fields))
        }
        return attachments
    }

    /// Decodes padded base64, in which white space does not count.
    private static func bytes(base64 text: String) -> [UInt8]? {
        var utf8 = Data(text.utf8)
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }
        if utf8.contains(where: isSpace) { utf8.removeAll(where: isSpace) }
        return Data(base64Encoded: utf8).map { [UInt8]($0) }
    }
}
#endif
