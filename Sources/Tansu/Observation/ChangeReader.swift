extension Database {
    /// A change stream that is read without waiting, for modules on top of this one that follow the documents.
    package final class ChangeReader: Sendable {
        private let feed: OwnedFeed
        private let codec = DocumentCodec<BSONDocument>.documents

        /// Opens a stream of events without documents.
        ///
        /// - Parameters:
        ///   - database: The database.
        ///   - since: The number of the last commit that is not delivered; the newest when nil.
        ///   - collections: Which collections; all when nil.
        /// - Throws: ``TansuError`` with `.notFound` when the events after the number are no longer complete.
        package init(_ database: Database, since: Int?, collections: [String]?) throws {
            var options: BSONDocument = ["before": false, "after": false]
            options["collections"] = collections.map { .array(BSONArray($0.map { BSONValue($0) })) }
            feed = OwnedFeed(try EngineFeed(database.engine, since: since, options: options))
        }

        /// An event.
        package struct Event {
            /// Nil for the event of a document in a commit that the reader does not want to see.
            package let change: Change<BSONDocument>?
            /// The number of the commit.
            package let sequence: Int
            /// Whether it is the last event of the commit.
            package let isLastOfCommit: Bool
        }

        /// The next event, or nil when there is none now.
        ///
        /// - Parameter commits: Numbers of commits whose events of documents are of no interest.
        package func next(omitting commits: Set<Int>) throws -> Event? {
            let next = try feed.engine.nextChange(omitting: commits) { try Change($0, codec) }
            return next.map { Event(change: $0.result, sequence: $0.sequence, isLastOfCommit: $0.isLastOfCommit) }
        }

        /// Skips all events that there are now.
        ///
        /// - Returns: The number of the last commit that was skipped, or 0 when there was none.
        package func skip() throws -> Int { try feed.engine.skip() }

        /// A mark for ``wait(after:)``, taken before reading.
        package func mark() throws -> UInt64 { try feed.engine.mark() }

        /// Waits until there may be something to read, or the task is cancelled.
        package func wait(after mark: UInt64) async { await feed.engine.signal.wait(after: mark) }
    }
}
