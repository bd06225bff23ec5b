extension Database {
    /// Steps through the documents of a query, as they were when it was made, whatever is written meanwhile.
    ///
    /// For example:
    ///
    /// ```swift
    /// let cursor = try people.find().makeCursor()
    /// while let person = try cursor.next() { print(person.name) }
    /// ```
    ///
    /// It ends with its last document, with ``close()``, when the last reference goes, or with its transaction.
    /// A database cannot be closed while one is open.
    public final class Cursor<Element: Sendable>: Sendable {
        private let engine: EngineCursor
        private let codec: DocumentCodec<Element>

        init(_ engine: EngineCursor, _ codec: DocumentCodec<Element>) {
            self.engine = engine
            self.codec = codec
        }

        /// The next document, or `nil` after the last.
        ///
        /// - Throws: ``TansuError`` with `.misuse` (its transaction has ended), `.tooLarge` (a sort over its memory
        ///   bound), `.cancelled`, `.timeout`, `.io` or `.corrupt`; `DecodingError`, and then the next step goes on
        ///   after that document.
        public func next() throws -> Element? {
            try engine.next(codec.decode)
        }

        /// Stops it for good, from any thread: the step that is going on, be it a long scan or sort, and every later
        /// one throw `.cancelled`. Harmless at any time; it is still to be closed.
        public func cancel() {
            engine.cancel()
        }

        /// Ends it early, and unpins what it saw. Harmless at any time.
        public func close() {
            engine.close()
        }
    }
}

extension Database.Cursor {
    /// What is left, as a sequence: each document, or why it could not be decoded. Any other error is the last.
    ///
    /// For example:
    ///
    /// ```swift
    /// for person in try people.find().makeCursor().results { print(try person.get().name) }
    /// ```
    public var results: Results { Results(cursor: self) }

    /// The documents of a cursor that are left, one pass only.
    public struct Results: Sequence, IteratorProtocol {
        let cursor: Database.Cursor<Element>
        private var hasFailed = false

        init(cursor: Database.Cursor<Element>) {
            self.cursor = cursor
        }

        /// The next document or what went wrong, or `nil` after the last.
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
