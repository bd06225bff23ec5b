extension Database {
    /// A change event: what one commit did to a document or a collection.
    public struct Change<Element: Sendable>: Sendable {
        /// What happened.
        public enum Kind: Sendable, Hashable {
            /// A document that did not exist before the commit.
            case insert

            /// A document that existed before. It may have been saved unchanged.
            case update

            /// A document was removed.
            case remove

            /// A collection was created.
            case collectionCreated

            /// A collection was dropped with all its documents, for which there are no events.
            case collectionDropped

            /// A collection was renamed with all its documents.
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

        /// Whether it is the last event of its commit.
        public let isLastOfCommit: Bool

        /// The document before the commit. `nil` when it was not requested or did not exist, when compaction has
        /// reclaimed it, or when it cannot be decoded and the policy of the collection skips it.
        public let before: Element?

        /// The document after the commit. `nil` when it was not requested or was removed, or when it cannot be decoded
        /// and the policy of the collection skips it: then it is none of those that the collection's queries find.
        public let after: Element?

        /// The token with which `changes(since:)` resumes after this event. A commit that was not delivered completely
        /// is delivered again from its beginning.
        public var resumeToken: Int { isLastOfCommit ? sequence : sequence - 1 }
    }

    /// Which versions of a document an event has.
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

extension Database.Change {
    /// Copies and decodes an event of the engine.
    init(_ change: EngineChange, _ codec: DocumentCodec<Element>) throws {
        kind =
            switch change.kind {
            case .insert: .insert
            case .update: .update
            case .remove: .remove
            case .collectionCreated: .collectionCreated
            case .collectionDropped: .collectionDropped
            case .collectionRenamed(let name): .collectionRenamed(to: name)
            case .unknown:
                throw TansuError(
                    .unsupported, "A newer engine sent a change event of an unknown kind; update the library")
            }
        collection = change.collection
        id = change.id
        sequence = change.sequence
        isLastOfCommit = change.isLastOfCommit
        before = try change.before.flatMap { try codec.decodeUnlessSkipped($0) }
        after = try change.after.flatMap { try codec.decodeUnlessSkipped($0) }
    }
}
