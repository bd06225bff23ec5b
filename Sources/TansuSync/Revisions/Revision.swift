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
#endif
