#if TansuSync
public import Foundation
import Tansu
import TansuBSON

/// A query on a ``RemoteCollection``. It runs when its documents are requested: all, the first, their number, or one after
/// another.
///
/// A query is a value: the methods that refine it return another one. Iterate over it directly to read page after page:
///
/// ```swift
/// for try await person in people.find(["age": ["$gte": 18]]) { … }
/// ```
public struct RemoteQuery<Element: Sendable>: Sendable {
    let collection: RemoteCollection<Element>
    /// The same query on a collection of this process.
    let local: Database.Query<Element>
    /// A selector that is sent as it is.
    var mango: BSONDocument?
    /// The design document, and the name, of the index to use.
    var index: [String]?
    var allowsScan = false
    var isPlain: Bool

    init(_ collection: RemoteCollection<Element>, _ local: Database.Query<Element>) {
        self.collection = collection
        self.local = local
        isPlain = collection.options.assumesPlainValues
    }

    /// Which documents.
    public var filter: BSONDocument { local.filter }

    private func with(_ local: Database.Query<Element>) -> Self {
        var query = Self(collection, local)
        (query.mango, query.index) = (mango, index)
        (query.allowsScan, query.isPlain) = (allowsScan, isPlain)
        return query
    }

    private func other<Other>(_ local: Database.Query<Other>) -> RemoteQuery<Other> {
        let other = RemoteCollection<Other>(
            connection: collection.connection, options: collection.options,
            local: local.ownCollection, hasObjectIDs: collection.hasObjectIDs)
        var query = RemoteQuery<Other>(other, local)
        (query.mango, query.index) = (mango, index)
        (query.allowsScan, query.isPlain) = (allowsScan, isPlain)
        return query
    }

    // MARK: Refining

    /// The same documents sorted by a path, by the server: in the order of its collation, with an index on the sorted paths.
    /// Further calls add less significant sort keys, which have the same direction.
    ///
    /// A server leaves out documents without the path, so that the query must have a condition on it.
    ///
    /// - Parameters:
    ///   - path: The dotted path of the value to sort by.
    ///   - direction: The least or the greatest first.
    public func sorted(by path: String, _ direction: SortDirection = .ascending) -> Self {
        with(local.sorted(by: path, direction))
    }

    /// The same documents sorted by a property, as ``sorted(by:_:)-swift.method`` with its path does.
    ///
    /// - Parameters:
    ///   - keyPath: The property: `\.age`, `\.pet?.species`.
    ///   - direction: The least or the greatest first.
    /// - Throws: `TansuError` with `.invalidQuery`: the stored name of the property is not known.
    public func sorted<Value>(
        by keyPath: KeyPath<Element, Value>, _ direction: SortDirection = .ascending
    ) throws -> Self { with(try local.sorted(by: keyPath, direction)) }

    /// Those of the same documents that also match another query document.
    ///
    /// - Parameter condition: The query document.
    public func and(_ condition: BSONDocument) -> Self { with(local.and(condition)) }

    /// Those of the same documents that also match a condition on the properties of their type.
    ///
    /// - Parameter condition: The condition. It runs once, to build the query.
    /// - Throws: As `find` with a condition.
    public func and(_ condition: (Database.Field<Element>) -> Database.Condition) throws -> Self {
        with(try local.and(condition))
    }

    /// Those of the same documents that also match a predicate of Foundation.
    ///
    /// - Parameter predicate: The predicate.
    /// - Throws: As `find` with a predicate.
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    public func and(_ predicate: Predicate<Element>) throws -> Self { with(try local.and(predicate)) }

    /// The same documents without the first `count`, which the server sends nevertheless.
    public func skip(_ count: Int) -> Self { with(local.skip(count)) }

    /// The first `count` of the same documents; 0 is no limit.
    public func limit(_ count: Int) -> Self { with(local.limit(count)) }

    /// The same documents with only some of their fields.
    ///
    /// - Parameter fields: Paths to include (`["name": 1]`) or to exclude (`["photo": 0]`).
    public func fields(_ fields: BSONDocument) -> Self { with(local.fields(fields)) }

    /// The same documents decoded as another type, such as for the included fields.
    ///
    /// - Parameter type: What documents are decoded as.
    public func decoded<Other: Codable & Sendable>(as type: Other.Type) -> RemoteQuery<Other> {
        other(local.decoded(as: type))
    }

    /// The same documents decoded as another type, with only the fields that it reads.
    ///
    /// - Parameter type: What documents are decoded as.
    /// - Throws: `TansuError` with `.invalidQuery`: the type's coding keys are not an enum.
    public func projected<Other: Codable & Sendable>(to type: Other.Type) throws -> RemoteQuery<Other> {
        other(try local.projected(to: type))
    }

    /// The same documents with another way to handle those that cannot be decoded.
    ///
    /// - Parameter policy: What happens to them; strict unless this is called.
    public func decoding(_ policy: Database.DecodingPolicy) -> Self { with(local.decoding(policy)) }

    // MARK: The server

    /// The same documents by a certain index of the server.
    ///
    /// - Parameters:
    ///   - name: Its name; any index of the design document when nil.
    ///   - designDocument: The design document that has it.
    public func using(index name: String? = nil, of designDocument: String) -> Self {
        var query = self
        query.index = [designDocument] + (name.map { [$0] } ?? [])
        return query
    }

    /// The same documents, even if the server cannot be asked for any of the conditions: then it sends all documents, which
    /// are tested here.
    public func scanning() -> Self {
        var query = self
        query.allowsScan = true
        return query
    }

    /// The same documents where the paths of the query lead to single values that JSON has, as with
    /// ``RemoteOptions/assumesPlainValues``.
    public func assumingPlainValues() -> Self {
        var query = self
        query.isPlain = true
        return query
    }
}

// MARK: - Results

extension RemoteQuery {
    /// All the documents, in an array.
    ///
    /// - Throws: ``SyncError``, of code `unsupported` when the server cannot be asked for the query; `TansuError` with
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
            throw SyncError(.invalidAnswer, "\(collection.url) answers no explanation")
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
