#if TansuSync
    import Tansu
    import TansuBSON

    extension RemoteQuery {
        /// All the documents, in an array.
        ///
        /// - Throws: ``RemoteError``, of code `unsupported` when the server cannot be asked for the query; `TansuError` with
        ///   `.invalidQuery`; `DecodingError`; `CancellationError`.
        public func all() async throws -> [Element] {
            var elements: [Element] = []
            for try await element in self { elements.append(element) }
            return elements
        }

        /// The first document, or `nil` when there is none.
        ///
        /// - Throws: As ``all()``.
        public func first() async throws -> Element? {
            var iterator = Iterator(self, enough: 1)
            return try await iterator.next()
        }

        /// How many documents there are; `skip` and `limit` count too. The server sends their ids, and the fields that the query
        /// is about.
        ///
        /// - Throws: As ``all()``.
        public func count() async throws -> Int {
            var results = try RemoteResults(self, onlyIDs: true)
            var count = 0
            while let page = try await results.next() { count += page.count }
            return count
        }

        /// What the server would do.
        ///
        /// - Throws: As ``all()``.
        public func explain() async throws -> RemoteExplanation {
            let request = try RemoteRequest(self)
            let answer = try await collection.connection.json("POST", "_explain", body: request.body)
            guard let document = answer.value.documentValue else {
                throw RemoteError(.invalidAnswer, "\(collection.url) answers no explanation")
            }
            return RemoteExplanation(
                request: request.body, document: document, testsHere: request.matcher != nil)
        }
    }

    extension RemoteQuery: AsyncSequence {
        /// Runs the query when the first document is requested.
        public func makeAsyncIterator() -> Iterator { Iterator(self) }

        /// Iterates over the documents of a query; one page of them is in memory.
        public struct Iterator: AsyncIteratorProtocol, Sendable {
            private let query: RemoteQuery<Element>
            private var results: RemoteResults<Element>?
            private var page: ArraySlice<BSONDocument> = []
            private var isAtEnd = false

            private let enough: Int?

            init(_ query: RemoteQuery<Element>, enough: Int? = nil) {
                self.query = query
                self.enough = enough
            }

            /// The next document, or `nil` after the last.
            ///
            /// - Throws: As ``RemoteQuery/all()``. After a document that cannot be decoded the next one follows; every other error
            ///   is the end.
            public mutating func next() async throws -> Element? {
                while true {
                    try Task.checkCancellation()
                    while let document = page.popFirst() {
                        let codec = query.local.codec
                        if let element = try document.withUnsafeBytes({ try codec.decodeUnlessSkipped($0) }) {
                            return element
                        }
                    }
                    guard !isAtEnd else { return nil }
                    isAtEnd = true
                    var results = try results ?? RemoteResults(query, enough: enough)
                    guard let found = try await results.next() else { return nil }
                    page = try await results.request.projected(found)[...]
                    self.results = results
                    isAtEnd = false
                }
            }
        }
    }

    /// What a server would do for a query.
    public struct RemoteExplanation: Sendable, Hashable {
        /// What the server is asked.
        public let request: BSONDocument
        /// What it answers.
        public let document: BSONDocument
        /// Whether the documents that it finds are tested once more by this side, because Mango may find too many.
        public let testsHere: Bool

        /// The name of the index that it uses.
        public var index: String? { document["index"]?.documentValue?["name"]?.stringValue }

        /// Whether it reads all documents.
        public var isFullScan: Bool { document["index"]?.documentValue?["type"] == "special" }
    }
#endif
