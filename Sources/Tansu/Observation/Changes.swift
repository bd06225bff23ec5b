import Foundation

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

        /// The options of a feed; of all collections when there are no names.
        fileprivate func options(of collections: [String]?) -> BSONDocument {
            var options: BSONDocument = ["before": .bool(contains(.before)), "after": .bool(contains(.after))]
            if let collections { options["collections"] = .array(BSONArray(collections.map { BSONValue($0) })) }
            return options
        }
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

extension Database {
    /// An endless sequence of change events: see ``Database/changes(since:collections:documents:)`` and
    /// ``Database/Collection/changes(since:documents:)``.
    ///
    /// The log of the database is the buffer. A slow loop loses no event, and memory does not grow: only a few events,
    /// and at most about a megabyte, are read ahead.
    ///
    /// It ends when the task is cancelled (a `CancellationError` is thrown), when the database is closed (a
    /// ``TansuError`` with `.closed`), or when the loop is left; then its resources are freed.
    public struct Changes<Document: Sendable>: AsyncSequence, Sendable {
        /// The type of its elements.
        public typealias Element = Change<Document>

        /// The feed that was opened when the sequence was made, for the first iterator.
        ///
        /// `@unchecked Sendable`: it is touched under the lock only.
        private final class First: @unchecked Sendable {
            private let lock = NSLock()
            private var feed: Result<OwnedFeed, any Error>?

            init(_ feed: Result<OwnedFeed, any Error>) {
                self.feed = feed
            }

            func take() -> Result<OwnedFeed, any Error>? {
                lock.withLock {
                    defer { feed = nil }
                    return feed
                }
            }
        }

        private let database: Database
        private let open: @Sendable () throws -> OwnedFeed
        private let codec: DocumentCodec<Document>
        /// `nil` with a resume token: that feed can be opened later, which may take a while.
        private let first: First?

        init(
            _ database: Database, since: Int?, collections: [String]?, documents: ChangeDocuments,
            codec: DocumentCodec<Document>
        ) {
            self.database = database
            self.codec = codec
            let options = documents.options(of: collections)
            open = {
                OwnedFeed(try EngineFeed(database.engine, since: since, options: options, resumption: .continued))
            }
            first = since == nil ? First(Result(catching: open)) : nil
        }

        /// Begins to read. Without a resume token the first iterator begins where the sequence was made, and each
        /// further one at the newest commit.
        public func makeAsyncIterator() -> AsyncIterator {
            let start = first.map { first in first.take() ?? Result(catching: open) }
            return AsyncIterator(start.map { .ready($0) } ?? .unopened(open), queue: database.readers, codec: codec)
        }

        /// Iterates over change events, endlessly.
        public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
            /// How many events, and bytes of their documents before the last, are read ahead at most.
            private static var batchCount: Int { 64 }
            private static var batchBytes: Int { 1 << 20 }

            enum Source: Sendable {
                case unopened(@Sendable () throws -> OwnedFeed)
                case ready(Result<OwnedFeed, any Error>)
                case ended
            }

            private var source: Source
            private let queue: WorkQueue
            private let codec: DocumentCodec<Document>
            private var batch: [Result<Change<Document>, any Error>] = []
            private var position = 0

            init(_ source: Source, queue: WorkQueue, codec: DocumentCodec<Document>) {
                self.source = source
                self.queue = queue
                self.codec = codec
            }

            /// Waits for the next event. `nil` only after an error.
            ///
            /// - Throws: ``TansuError`` with `.notFound` (the events after the resume token are no longer complete:
            ///   read everything, and start a new sequence), `.closed`, `.corrupt`, `.io`; `CancellationError`. After
            ///   these it has ended. `DecodingError`: the next step continues after that event.
            public mutating func next() async throws -> Change<Document>? {
                do {
                    while position == batch.count {
                        guard let feed = try await feed() else { return nil }
                        try await fetch(feed)
                    }
                } catch {
                    source = .ended
                    throw error.asSeenByTask
                }
                defer { position += 1 }
                return try batch[position].get()
            }

            /// The feed, opened if need be; `nil` after an error.
            private mutating func feed() async throws -> EngineFeed? {
                switch source {
                case .unopened(let open):
                    let feed = try await queue.run { _ in try open() }
                    source = .ready(.success(feed))
                    return feed.engine
                case .ready(let feed): return try feed.get().engine
                case .ended: return nil
                }
            }

            /// Reads ahead, or waits when there is nothing to read.
            private mutating func fetch(_ feed: EngineFeed) async throws {
                let (codec, mark) = (codec, try feed.mark())
                position = 0
                batch = []
                batch = try await queue.run { flag in
                    try flag.cancelling(with: feed.cancel) { try Self.read(feed, codec) }
                }
                if batch.isEmpty {
                    await feed.signal.wait(after: mark)
                    try Task.checkCancellation()
                }
            }

            private static func read(
                _ feed: EngineFeed, _ codec: DocumentCodec<Document>
            ) throws -> [Result<Change<Document>, any Error>] {
                var batch: [Result<Change<Document>, any Error>] = []
                var bytes = 0
                while batch.count < batchCount, bytes < batchBytes {
                    do {
                        let change = try feed.nextChange { change in
                            bytes += (change.before?.count ?? 0) + (change.after?.count ?? 0)
                            return Result(catching: { try Change(change, codec) })
                        }
                        guard let change else { break }
                        batch.append(change)
                    } catch {
                        // The events before it are delivered first; the next step fails again.
                        if batch.isEmpty { throw error }
                        break
                    }
                }
                return batch
            }
        }
    }
}

extension Database {
    /// A change stream that is read without waiting, for modules on top of this one that follow the documents.
    package final class ChangeReader: Sendable {
        private let feed: OwnedFeed
        private let codec = DocumentCodec<BSONDocument>.documents

        /// Opens a stream of the events as ``Database/changes(since:collections:documents:)`` does: without more, of all
        /// collections, without documents, from now on.
        package init(
            _ database: Database, since: Int? = nil, collections: [String]? = nil, documents: ChangeDocuments = []
        ) throws {
            let options = documents.options(of: collections)
            feed = OwnedFeed(try EngineFeed(database.engine, since: since, options: options, resumption: .continued))
        }

        /// The next event, or nil when there is none now.
        package func next() throws -> Change<BSONDocument>? {
            try feed.engine.nextChange { try Change($0, codec) }
        }

        /// The number of the last commit of which nothing is left to read, after which a later stream continues.
        package func position() throws -> Int? { try feed.engine.position() }

        /// Skips all events that there are now.
        package func skip() throws { try feed.engine.skip() }

        /// A mark for ``wait(after:)``, taken before reading.
        package func mark() throws -> UInt64 { try feed.engine.mark() }

        /// Waits until there may be something to read, or the task is cancelled.
        package func wait(after mark: UInt64) async { await feed.engine.signal.wait(after: mark) }
    }
}

// MARK: - Database: changes

extension Database {
    /// The change stream of the database: the events of all commits in their order, from now on or after a resume
    /// token.
    ///
    /// For example:
    ///
    /// ```swift
    /// for try await change in db.changes(since: lastSeen) {
    ///     print(change.kind, change.collection, change.id ?? "")
    ///     lastSeen = change.resumeToken
    /// }
    /// ```
    ///
    /// It begins when this is called, not with the loop: commits in between are delivered. There are events of
    /// committed changes only, one per document and commit. A resume token of an earlier run continues there; 0
    /// delivers everything that is stored, and then what follows. Compaction removes history: versions that were
    /// replaced before it have no events, and a token other than 0 is rejected once removals after it may be lost. Then
    /// read everything and start a new sequence. An open sequence misses no removal.
    ///
    /// - Parameters:
    ///   - since: A resume token; the newest commit when `nil`.
    ///   - collections: The names of the collections, as of each event; all when `nil`.
    ///   - documents: Which versions of documents the events have.
    /// - Returns: The events; see its iterator for errors.
    public func changes(
        since: Int? = nil, collections: [String]? = nil, documents: ChangeDocuments = .after
    ) -> Changes<BSONDocument> {
        Changes(self, since: since, collections: collections, documents: documents, codec: .documents)
    }
}

extension Database.Collection {
    /// The change stream of the collection: the events of all commits in their order, from now on or after a resume
    /// token.
    ///
    /// For example:
    ///
    /// ```swift
    /// for try await change in people.changes() {
    ///     print(change.kind, change.after?.name ?? "")
    /// }
    /// ```
    ///
    /// It behaves as ``Database/changes(since:collections:documents:)``. Changes that are not committed have no events,
    /// also when the collection belongs to a transaction.
    ///
    /// - Parameters:
    ///   - since: A resume token; the newest commit when `nil`.
    ///   - documents: Which versions of documents the events have.
    /// - Returns: The events; see its iterator for errors.
    public func changes(
        since: Int? = nil, documents: Database.ChangeDocuments = .after
    ) -> Database.Changes<Element> {
        Database.Changes(session.database, since: since, collections: [name], documents: documents, codec: codec)
    }
}
