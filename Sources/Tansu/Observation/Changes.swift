import Foundation

extension Database {
    /// Changes one after the other, for ever: see ``Database/changes(since:collections:documents:)`` and
    /// ``Database/Collection/changes(since:documents:)``.
    ///
    /// The database's log is the buffer. A loop that is slow falls behind and loses nothing, and memory does not grow
    /// for that: only some changes, and about a megabyte at most, are read ahead.
    ///
    /// It ends when the task is cancelled (a `CancellationError` is thrown), when the database is closed (a
    /// ``TansuError`` with `.closed`), or when the loop is left; then everything that it held is freed.
    public struct Changes<Document: Sendable>: AsyncSequence, Sendable {
        /// What it steps through.
        public typealias Element = Change<Document>

        /// The feed that began when the sequence was made, until somebody takes it.
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
        /// `nil` for those that begin at a number: there is time to open a feed there, which may take a while.
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

        /// Begins to read. The first iterator begins where the sequence was made, each further one that tells what is
        /// new begins anew.
        public func makeAsyncIterator() -> AsyncIterator {
            let start = first.map { first in first.take() ?? Result(catching: open) }
            return AsyncIterator(start.map { .ready($0) } ?? .unopened(open), lane: database.readers, codec: codec)
        }

        /// Steps through changes, for ever.
        public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
            /// Changes that are read ahead at most, and bytes of their documents, but for the last.
            private static var batchCount: Int { 64 }
            private static var batchBytes: Int { 1 << 20 }

            enum Source: Sendable {
                case unopened(@Sendable () throws -> OwnedFeed)
                case ready(Result<OwnedFeed, any Error>)
                case ended
            }

            private var source: Source
            private let lane: WorkLane
            private let codec: DocumentCodec<Document>
            private var batch: [Result<Change<Document>, any Error>] = []
            private var position = 0

            init(_ source: Source, lane: WorkLane, codec: DocumentCodec<Document>) {
                self.source = source
                self.lane = lane
                self.codec = codec
            }

            /// Waits for the next change. `nil` only after an error.
            ///
            /// - Throws: ``TansuError`` with `.notFound` (changes behind that number can't be told any more: read
            ///   everything, and begin anew), `.closed`, `.corrupt`, `.io`; `CancellationError`. After these it has
            ///   ended. `DecodingError`: the next step goes on after that change.
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
                    let feed = try await lane.run { _ in try open() }
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
                batch = try await lane.run { flag in
                    try flag.stopping(with: feed.cancel) { try Self.read(feed, codec) }
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
                        guard let change = try feed.nextChange(codec, count: { bytes += $0 }) else { break }
                        batch.append(change)
                    } catch {
                        // What came before it is told first; it is met again at the next step.
                        if batch.isEmpty { throw error }
                        break
                    }
                }
                return batch
            }
        }
    }
}
