import Foundation

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
            var options: BSONDocument = [
                "before": .bool(documents.contains(.before)), "after": .bool(documents.contains(.after)),
            ]
            if let collections { options["collections"] = .array(BSONArray(collections.map { BSONValue($0) })) }
            open = { [options] in OwnedFeed(try EngineFeed(database.engine, since: since, options: options)) }
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
