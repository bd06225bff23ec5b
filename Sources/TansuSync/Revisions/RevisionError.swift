#if TansuSync
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
