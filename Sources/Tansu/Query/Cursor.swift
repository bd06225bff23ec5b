extension Database {
    /// A cursor over the documents of a query, in the snapshot in which it was made.
    ///
    /// For example:
    ///
    /// ```swift
    /// let cursor = try people.find().makeCursor()
    /// while let person = try cursor.next() { print(person.name) }
    /// ```
    ///
    /// It ends with its last document, with ``close()``, with the last reference to it, or with its transaction. A
    /// database cannot be closed while a cursor is open.
    public final class Cursor<Element: Sendable>: Sendable {
        private let engine: EngineCursor
        private let codec: DocumentCodec<Element>

        init(_ engine: EngineCursor, _ codec: DocumentCodec<Element>) {
            self.engine = engine
            self.codec = codec
        }

        /// The next document, or `nil` after the last. One that the query's ``Database/DecodingPolicy`` skips is passed
        /// over.
        ///
        /// - Throws: ``TansuError`` with `.invalidState` (its transaction has ended), `.tooLarge` (a sort over its
        ///   memory limit), `.cancelled`, `.timeout`, `.io` or `.corrupt`; `DecodingError`, after which the next step
        ///   continues with the following document.
        public func next() throws -> Element? {
            while let element = try engine.next({ try codec.decodeUnlessSkipped($0) }) {
                if let element { return element }
            }
            return nil
        }

        /// Cancels it, from any thread: the running step, such as a long scan or sort, and every later one throw
        /// `.cancelled`. It may be called at any time; the cursor must still be closed.
        public func cancel() {
            engine.cancel()
        }

        /// Ends it early, and releases its snapshot. It may be called at any time.
        public func close() {
            engine.close()
        }
    }
}

extension Database.Cursor {
    /// The remaining documents as a sequence of results: a document, or why it could not be decoded. Any other error
    /// ends the sequence.
    ///
    /// For example:
    ///
    /// ```swift
    /// for person in try people.find().makeCursor().results { print(try person.get().name) }
    /// ```
    public var results: Results { Results(cursor: self) }

    /// The remaining documents of a cursor, in a single pass.
    public struct Results: Sequence, IteratorProtocol, Sendable {
        let cursor: Database.Cursor<Element>
        private var hasFailed = false

        init(cursor: Database.Cursor<Element>) {
            self.cursor = cursor
        }

        /// The next document or error, or `nil` after the last.
        public mutating func next() -> Result<Element, any Error>? {
            if hasFailed { return nil }
            do {
                return try cursor.next().map { .success($0) }
            } catch {
                hasFailed = !(error is DecodingError)
                return .failure(error)
            }
        }
    }
}

// MARK: - Query: async sequence

extension Database.Query: AsyncSequence {
    /// Runs the query when the first document is requested.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(session, .read, reader) { try makeEngineCursor() }
    }

    /// Iterates over the documents of a query or an aggregation, in the snapshot of the first step.
    ///
    /// Documents are fetched and decoded in batches on a thread of the database, small ones first, because a thread
    /// switch costs more than a document.
    public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
        private static var firstBatch: Int { 8 }
        private static var largestBatch: Int { 256 }
        private static var largestBatchBytes: Int { 1 << 20 }

        private let session: Session
        private let access: Session.Access
        private let codec: DocumentCodec<Element>
        private let open: @Sendable () throws -> EngineCursor
        private var cursor: OwnedCursor?
        private var batch = Batch(elements: [], end: .more)
        private var position = 0
        private var batchSize = Self.firstBatch

        init(
            _ session: Session, _ access: Session.Access, _ codec: DocumentCodec<Element>,
            open: @escaping @Sendable () throws -> EngineCursor
        ) {
            self.session = session
            self.access = access
            self.codec = codec
            self.open = open
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
            let (open, codec, known, size) = (open, codec, cursor?.engine, batchSize)
            let (used, batch) = try await session.run(access) { flag in
                let cursor = try known ?? open()
                return (cursor, try flag.cancelling(with: cursor.cancel) { Self.fetch(size, from: cursor, codec) })
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
