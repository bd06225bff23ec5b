#if TansuSync
import TansuBSON

/// The name of one revision of a document, such as `3-917fa2381192822767f010b95b45325b`: its generation and its hash.
///
/// The first revision of a document has generation 1, and each edit has that of its parent plus one. Revisions are
/// ordered as CouchDB orders them: by generation, then by the bytes of the hash, of which 32 hex digits are sixteen.
public struct Revision: Sendable, Hashable {
    /// The largest generation: larger integers are not exact in JavaScript.
    public static let maximumGeneration = 1 << 53 - 1
    /// The greatest number of characters that a hash can have.
    public static let maximumHashLength = RevisionHash.maximumLength

    /// The number of edits that led to this revision, itself included.
    public let generation: Int
    let hash: RevisionHash

    init(generation: Int, hash: RevisionHash) {
        self.generation = generation
        self.hash = hash
    }

    /// Creates a revision of its two parts, as CouchDB's `_revisions` has them.
    ///
    /// - Throws: ``RevisionError`` when the generation or the hash is invalid.
    public init(generation: Int, hash: String) throws(RevisionError) {
        try Self.validate(generation)
        self.init(generation: generation, hash: try RevisionHash(utf8: hash.utf8))
    }

    static func validate(_ generation: Int) throws(RevisionError) {
        guard generation > 0 else {
            throw RevisionError(.generationTooSmall, "The generation of a revision must be at least 1")
        }
        guard generation <= maximumGeneration else {
            throw RevisionError(.generationTooLarge, "The generation is larger than \(maximumGeneration)")
        }
    }

    /// The hash as text: 32 hex digits in lower case, or the characters of any other hash.
    public var hashText: String { hash.description }
}

extension Revision: Comparable {
    /// Whether the first revision is older: by generation, then by the bytes of the hash.
    public static func < (a: Revision, b: Revision) -> Bool {
        a.generation != b.generation ? a.generation < b.generation : a.hash < b.hash
    }
}

// MARK: - Text

extension Revision {
    /// Reads a revision such as `3-917fa2381192822767f010b95b45325b`.
    ///
    /// - Throws: ``RevisionError`` that says what is wrong with the text.
    public init(_ text: some StringProtocol) throws(RevisionError) {
        let utf8 = text.utf8
        guard !utf8.isEmpty else { throw RevisionError(.emptyText, "The revision is empty") }
        // A sign is read before the dash, so that "-1-abc" is a negative generation.
        let start = utf8.first == UInt8(ascii: "-") ? utf8.index(after: utf8.startIndex) : utf8.startIndex
        guard let dash = utf8[start...].firstIndex(of: UInt8(ascii: "-")) else {
            throw RevisionError(.missingDash, "The revision has no dash between generation and hash")
        }
        let digits = utf8[start..<dash]
        guard !digits.isEmpty, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            throw RevisionError(.invalidGeneration, "The revision does not begin with a number")
        }
        let isNegative = start != utf8.startIndex
        // Digits that Int cannot hold are too many for a generation as well.
        let magnitude = Int(String(decoding: digits, as: UTF8.self)) ?? .max
        let generation = isNegative ? -magnitude : magnitude
        try Self.validate(generation)
        self.init(generation: generation, hash: try RevisionHash(utf8: utf8[utf8.index(after: dash)...]))
    }
}

extension Revision: LosslessStringConvertible {
    /// Reads a revision; nil when the text is none.
    public init?(_ description: String) {
        guard let revision = try? Revision(Substring(description)) else { return nil }
        self = revision
    }

    /// The generation, a dash and the hash.
    public var description: String { "\(generation)-" + hash.description }
}

// MARK: - RevisionStatus

/// What is known of a revision apart from its ancestors.
public enum RevisionStatus: UInt8, Sendable, Hashable, CaseIterable {
    /// Only its name is known: it came as an ancestor of another revision, or its body was compacted away.
    case missing = 0
    /// It is a version of the document.
    case available = 1
    /// It is a tombstone: it removed the document.
    case deleted = 2

    /// Whether the revision itself was stored, not only its name.
    public var isStored: Bool { self != .missing }
}

// MARK: - RevisionPath

/// A revision with its ancestors as far as they are known, newest first, as CouchDB's `_revisions` lists them.
public struct RevisionPath: Sendable, Hashable {
    /// The generation of the newest revision.
    let generation: Int
    /// One hash for each generation, from the newest down.
    let hashes: [RevisionHash]

    init(generation: Int, hashes: [RevisionHash]) {
        self.generation = generation
        self.hashes = hashes
    }

    /// Creates a path from the two members of CouchDB's `_revisions`.
    ///
    /// - Parameters:
    ///   - start: The generation of the newest revision.
    ///   - ids: The hashes, newest first. The last one has generation `start - ids.count + 1`.
    /// - Throws: ``RevisionError`` when a hash is invalid, when there is none, or when there are more than generations.
    public init(start: Int, ids: some Collection<String>) throws(RevisionError) {
        try Revision.validate(start)
        guard !ids.isEmpty, ids.count <= start else {
            throw RevisionError(
                .invalidPath, "The path of revision generation \(start) has \(ids.count) hashes; give 1 to \(start)"
            )
        }
        generation = start
        var hashes: [RevisionHash] = []
        hashes.reserveCapacity(ids.count)
        for id in ids { hashes.append(try RevisionHash(utf8: id.utf8)) }
        self.hashes = hashes
    }

    /// Creates the path of a revision whose ancestors are not known.
    public init(_ revision: Revision) {
        self.init(generation: revision.generation, hashes: [revision.hash])
    }

    /// Creates the path of an edit of a revision.
    ///
    /// - Throws: ``RevisionError`` when the parent is not of the generation before.
    public init(_ revision: Revision, parent: Revision) throws(RevisionError) {
        guard parent.generation + 1 == revision.generation else {
            throw RevisionError(.invalidPath, "Revision \(revision) cannot have the parent \(parent)")
        }
        self.init(generation: revision.generation, hashes: [revision.hash, parent.hash])
    }

    /// The newest revision.
    public var revision: Revision { self[0] }
    /// The number of revisions.
    public var count: Int { hashes.count }
    /// The revisions, newest first.
    public var revisions: [Revision] { hashes.indices.map { self[$0] } }
    /// The hashes as CouchDB's `_revisions.ids` has them.
    public var ids: [String] { hashes.map(\.description) }

    /// The revision that is that many generations older than the newest.
    subscript(age: Int) -> Revision { Revision(generation: generation - age, hash: hashes[age]) }
}

// MARK: - RevisionError

/// An error that revisions and revision trees throw when input is invalid.
public struct RevisionError: Error, Sendable, Hashable {
    /// The kinds of errors.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The text of a revision is empty.
        case emptyText
        /// The text of a revision has no dash between generation and hash.
        case missingDash
        /// The part before the dash is not a number.
        case invalidGeneration
        /// The generation is zero or negative; the first revision of a document has generation 1.
        case generationTooSmall
        /// The generation is larger than ``Revision/maximumGeneration``.
        case generationTooLarge
        /// The hash has 32 characters that are not all hex digits, or a character that a hash cannot have.
        case invalidHash
        /// The hash is longer than ``Revision/maximumHashLength``.
        case hashTooLong
        /// A path has no revision, or more revisions than its newest generation.
        case invalidPath
        /// The tree would have more revisions than it may have.
        case treeTooLarge
        /// Stored bytes that are not a revision tree.
        case corruptTree
        /// A stored tree of a newer version of this library.
        case unknownVersion
        /// The body of a document is nested too deep or is no document.
        case invalidBody
    }

    /// The kind of error.
    public var code: Code
    /// The description of the error.
    public var message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension RevisionError: CustomStringConvertible {
    /// The message.
    public var description: String { message }
}
#endif
