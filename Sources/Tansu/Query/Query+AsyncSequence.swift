extension Database.Query: AsyncSequence {
    /// Runs the query, when its first document is asked for.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(self)
    }

    /// Steps through the documents of a query, as they were at the first step.
    ///
    /// Documents are fetched and decoded ahead on a thread of the database's own, few at first, then more at a
    /// time, for each trip to another thread costs more than a document.
    public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
        private static var firstBatch: Int { 8 }
        private static var largestBatch: Int { 256 }
        private static var largestBatchBytes: Int { 1 << 20 }

        private let query: Database.Query<Element>
        private var cursor: EngineCursor?
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
                    throw error
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
            let (query, cursor, size) = (query, cursor, batchSize)
            (self.cursor, batch) = try await query.session.suspend(.read) { flag in
                let cursor = try cursor ?? query.makeEngineCursor()
                return (cursor, Self.fetch(size, from: cursor, query.codec, flag))
            }
            position = 0
            batchSize = Swift.min(2 * size, Self.largestBatch)
        }

        /// Reads up to `size` documents. Those before an error are kept: they come first.
        private static func fetch(
            _ size: Int, from cursor: EngineCursor, _ codec: DocumentCodec<Element>, _ flag: CancellationFlag
        ) -> Batch {
            var batch = Batch(elements: [], end: .more)
            var bytes = 0
            do {
                while batch.elements.count < size && bytes < largestBatchBytes {
                    try flag.check()
                    let element = try cursor.next { document in
                        bytes += document.count
                        return try codec.decode(document)
                    }
                    guard let element else {
                        batch.end = .last
                        break
                    }
                    batch.elements.append(element)
                }
            } catch {
                batch.end = .failure(error)
            }
            return batch
        }
    }

    /// What one trip brought.
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
