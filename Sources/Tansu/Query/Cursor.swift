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
