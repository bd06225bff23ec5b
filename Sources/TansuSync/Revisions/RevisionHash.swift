#if TansuSync
import TansuBSON

/// The hash of a revision: sixteen bytes, or text of another length.
///
/// CouchDB stores 32 hex digits as the sixteen bytes that they stand for and any other hash as its characters, and
/// writes whatever has sixteen bytes as 32 hex digits. So a text of sixteen characters is the same hash as the 32 hex
/// digits of these characters.
enum RevisionHash: Sendable, Hashable {
    /// Sixteen bytes, as two numbers with the most significant byte first.
    case bytes16(UInt64, UInt64)
    /// Characters of ASCII, or none; never sixteen or thirty-two.
    case text([UInt8])
}

extension RevisionHash {
    static let maximumLength = 255

    /// Reads the part of a revision after the dash.
    init(utf8: some Collection<UInt8>) throws(RevisionError) {
        guard utf8.count <= Self.maximumLength else {
            throw RevisionError(.hashTooLong, "The hash of the revision is longer than \(Self.maximumLength) bytes")
        }
        guard utf8.allSatisfy(Self.isAllowed) else {
            throw RevisionError(.invalidHash, "The hash of the revision has a character other than visible ASCII")
        }
        switch utf8.count {
        case 16: self = Self.bytes16(of: utf8)
        case 32:
            guard let digits = Self.hexDigits(utf8) else {
                throw RevisionError(.invalidHash, "The hash of the revision is not of 32 hex digits")
            }
            self = digits
        default: self = .text(Array(utf8))
        }
    }

    /// The hash of sixteen bytes.
    static func bytes16(of bytes: some Collection<UInt8>) -> RevisionHash {
        var halves: (UInt64, UInt64) = (0, 0)
        for byte in bytes.prefix(16) {
            halves.0 = halves.0 << 8 | halves.1 >> 56
            halves.1 = halves.1 << 8 | UInt64(byte)
        }
        return .bytes16(halves.0, halves.1)
    }

    /// Whether a hash can have the character: quotes and backslashes would not survive an ETag.
    static func isAllowed(_ byte: UInt8) -> Bool {
        byte > UInt8(ascii: " ") && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    private static func hexDigits(_ utf8: some Collection<UInt8>) -> RevisionHash? {
        var halves: (UInt64, UInt64) = (0, 0)
        for byte in utf8 {
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
            default: return nil
            }
            halves.0 = halves.0 << 4 | halves.1 >> 60
            halves.1 = halves.1 << 4 | UInt64(digit)
        }
        return .bytes16(halves.0, halves.1)
    }

    /// What CouchDB compares.
    var bytes: [UInt8] {
        switch self {
        case .text(let text): text
        case .bytes16(let high, let low): Self.bytes(high) + Self.bytes(low)
        }
    }

    private static func bytes(_ half: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: half >> (56 - 8 * $0)) }
    }
}

extension RevisionHash: Comparable {
    static func < (a: RevisionHash, b: RevisionHash) -> Bool {
        if case .bytes16(let aHigh, let aLow) = a, case .bytes16(let bHigh, let bLow) = b {
            return (aHigh, aLow) < (bHigh, bLow)
        }
        return a.bytes.lexicographicallyPrecedes(b.bytes)
    }
}

extension RevisionHash: CustomStringConvertible {
    var description: String {
        switch self {
        case .text(let text): String(decoding: text, as: UTF8.self)
        case .bytes16(let high, let low):
            String(unsafeUninitializedCapacity: 32) { digits in
                for index in 0..<16 {
                    digits[index] = Self.digit(high >> (60 - 4 * UInt64(index)))
                    digits[index + 16] = Self.digit(low >> (60 - 4 * UInt64(index)))
                }
                return 32
            }
        }
    }

    /// The hex digit of the lowest four bits.
    private static func digit(_ bits: UInt64) -> UInt8 {
        let value = UInt8(truncatingIfNeeded: bits & 0xF)
        return value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}

/// Names the revision that an edit makes: equal edits of one revision have equal names on every replica.
///
/// The hash is the first half of a SHA-256 over the parent, whether the edit removes the document, its body and its
/// attachments. CouchDB takes an MD5 over the form of its own memory, so that equal edits there have other names.
public enum RevisionDigest {
    /// What an attachment adds to the revision that names it.
    public struct Attachment: Sendable, Hashable {
        /// Its name.
        public let name: String
        /// Its media type.
        public let contentType: String
        /// The digest of its bytes, such as `md5-iMaiC8wqiFlD2NjLTemvCQ==`.
        public let digest: String

        /// Creates the description of an attachment.
        public init(name: String, contentType: String, digest: String) {
            self.name = name
            self.contentType = contentType
            self.digest = digest
        }

        /// Whether both are the same, text byte by byte.
        public static func == (a: Self, b: Self) -> Bool {
            a.name == b.name && a.contentType == b.contentType && a.digest == b.digest
        }
    }

    /// The revision that an edit makes.
    ///
    /// - Parameters:
    ///   - parent: The revision that was edited; nil for the first one of a document.
    ///   - isDeleted: Whether the edit removes the document.
    ///   - body: The fields. Those at the top whose name begins with `_` do not count, `_id` among them.
    ///   - attachments: What the revision names, in any order.
    /// - Throws: ``RevisionError`` when the parent has the greatest generation, or the body is nested too deep.
    public static func revision(
        after parent: Revision?, isDeleted: Bool = false, body: BSONDocument, attachments: [Attachment] = []
    ) throws(RevisionError) -> Revision {
        let generation = (parent?.generation ?? 0) + 1
        try Revision.validate(generation)
        var form = CanonicalForm()
        form.append(version: 1)
        form.append(text: parent?.description ?? "")
        form.append(flag: isDeleted)
        try form.append(fieldsOf: body)
        form.append(count: attachments.count)
        for attachment in attachments.sorted(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }) {
            form.append(text: attachment.name)
            form.append(text: attachment.contentType)
            form.append(text: attachment.digest)
        }
        return Revision(generation: generation, hash: .bytes16(of: form.digest()))
    }
}
#endif
