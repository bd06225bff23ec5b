extension Database.Query: AsyncSequence {
    /// Runs the query when the first document is requested.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(self)
    }

    /// Iterates over the documents of a query, in the snapshot of the first step.
    ///
    /// Documents are fetched and decoded in batches on a thread of the database, small ones first, because a thread
    /// switch costs more than a document.
    public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
        private static var firstBatch: Int { 8 }
        private static var largestBatch: Int { 256 }
        private static var largestBatchBytes: Int { 1 << 20 }

        private let query: Database.Query<Element>
        private var cursor: OwnedCursor?
        private var batch = Batch(elements: [], end: .more)
        private var position = 0
        private var batchSize = Self.firstBatch

        init(_ query: Database.Query<Element>) {
            self.query = query
        }

        /// The next document, or `nil` after the last.
        ///
        /// - Throws: As `all()`, and `CancellationError`.
        public mutating func next() async throws -> Element? {
            if position == batch.elements.count {
                switch batch.end {
                case .more: try await fetch()
                case .last: return nil
                case .failure(let error):
                    batch = Batch(elements: [], end: .last)
                    position = 0
                    throw error.asSeenByTask
                }
                return position < batch.elements.count ? take() : try await next()
            }
            return take()
        }

        private mutating func take() -> Element {
            defer { position += 1 }
            return batch.elements[position]
        }

        private mutating func fetch() async throws {
            let (query, known, size) = (query, cursor?.engine, batchSize)
            let (used, batch) = try await query.session.run(.read) { flag in
                let cursor = try known ?? query.makeEngineCursor()
                return (
                    cursor, try flag.cancelling(with: cursor.cancel) { Self.fetch(size, from: cursor, query.reader) }
                )
            }
            if cursor == nil { cursor = OwnedCursor(used) }
            self.batch = batch
            position = 0
            batchSize = Swift.min(2 * size, Self.largestBatch)
        }

        /// Reads up to `size` documents. Those before an error are kept: they come first.
        private static func fetch(
            _ size: Int, from cursor: EngineCursor, _ codec: DocumentCodec<Element>
        ) -> Batch {
            var batch = Batch(elements: [], end: .more)
            var bytes = 0
            do {
                while batch.elements.count < size && bytes < largestBatchBytes {
                    let element: Element?? = try cursor.next { document in
                        bytes += document.count
                        return try codec.decodeUnlessSkipped(document)
                    }
                    guard let element else {
                        batch.end = .last
                        break
                    }
                    if let element { batch.elements.append(element) }
                }
            } catch {
                cursor.close()
                batch.end = .failure(error)
            }
            return batch
        }
    }

    /// Closes the cursor as soon as no iterator has it: the thread that fetched may retain the cursor itself a little
    /// longer, and the database could not be closed yet.
    private final class OwnedCursor: Sendable {
        let engine: EngineCursor

        init(_ engine: EngineCursor) {
            self.engine = engine
        }

        deinit {
            engine.close()
        }
    }

    /// The result of one fetch.
    private struct Batch: Sendable {
        enum End: Sendable {
            case more
            case last
            case failure(any Error)
        }

        var elements: [Element]
        var end: End
    }
}

// Reading may throw, which a sequence cannot. Without this the compiler would only say that a query is no `Sequence`.
@available(
    *, unavailable, message: "reading may throw: add .all(), or write 'for try await' in an asynchronous function"
)
extension Database.Query: Sequence {
    /// Nothing calls it.
    public func makeIterator() -> IndexingIterator<[Element]> { [].makeIterator() }
}
