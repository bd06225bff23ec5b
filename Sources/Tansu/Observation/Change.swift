extension Database {
    /// What happened to a document or a collection in one commit.
    public struct Change<Element: Sendable>: Sendable {
        /// What happened.
        public enum Kind: Sendable, Hashable {
            /// A document that was not there before the commit.
            case insert

            /// A document that was there before. It may have been saved again as it was.
            case update

            /// A document is gone.
            case delete

            /// A collection is new.
            case collectionCreated

            /// A collection is gone with all its documents, of which nothing more is told.
            case collectionDropped

            /// A collection has another name, with all its documents.
            case collectionRenamed(to: String)
        }

        /// What happened.
        public let kind: Kind

        /// The collection's name as of the change.
        public let collection: String

        /// The document's `_id`; `nil` when a whole collection changed.
        public let id: BSONValue?

        /// The number of the commit.
        public let sequence: Int

        /// Whether nothing more is told of this commit.
        public let isLastOfCommit: Bool

        /// The document before the commit. `nil` when it was not asked for or not there, or when compaction has given
        /// its room back.
        public let before: Element?

        /// The document after the commit. `nil` when it was not asked for or is gone.
        public let after: Element?

        /// The number to go on from later, with `changes(since:)`, when this was the last change that was taken in: a
        /// commit that was not told to its end is then told once more, from its beginning.
        public var resumePoint: Int { isLastOfCommit ? sequence : sequence - 1 }
    }

    /// Which documents a change shows.
    public struct ChangeDocuments: OptionSet, Sendable {
        /// The options as bits.
        public let rawValue: Int

        /// The options with these bits.
        public init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// The document as it was before the commit.
        public static let before = Self(rawValue: 1)

        /// The document as it is after the commit.
        public static let after = Self(rawValue: 2)
    }
}

extension Database.Change: Equatable where Element: Equatable {}
