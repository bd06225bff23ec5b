public import Tansu

/// A search for documents by attribute, value and kind of match, over one or several collections.
///
/// ```swift
/// var search = Search(in: "people", where: .init("name", .begins("bar"), ignoring: .case))
/// search.order = [.init("age", .descending)]
/// search.limit = 10
/// for document in try await search.documents(in: db) { print(document) }
/// ```
///
/// It is a value that describes ordinary queries: ``query``, ``hints`` and ``commands(in:)`` show them. The same search may run many
/// times, in databases and transactions.
///
/// Of several collections, the documents come collection by collection, unless ``order`` is given.
public struct Search: Sendable, Hashable, Codable {
    /// The names of the collections; all that the database has, when it is empty.
    public var collections: [String]

    /// Which documents; all when `nil`.
    public var expression: Expression?

    /// The paths of the attributes to return; all when it is empty. The `_id` is always returned.
    public var returnedAttributes: [String] = []

    /// The sort keys, the most significant first; the order of insertion when it is empty.
    public var order: [Order] = []

    /// How many documents are returned at most; 0 for no limit.
    public var limit = 0

    /// How many documents are left out at the beginning.
    public var offset = 0

    /// A search in collections.
    ///
    /// - Parameters:
    ///   - collections: Their names; all collections when there is none.
    ///   - expression: Which documents; all when `nil`.
    public init(in collections: String..., where expression: Expression? = nil) {
        self.collections = collections
        self.expression = expression
    }

    /// A search in the collections of types.
    ///
    /// - Parameters:
    ///   - types: The types.
    ///   - source: A database that is used with a ``Model``, or a transaction of it.
    ///   - expression: Which documents; all when `nil`.
    /// - Throws: `TansuError` with `.invalidState` without a model, `.invalidArgument` for a type that it does not have.
    public init(
        of types: any (Codable & Sendable & Identifiable).Type..., in source: some ObjectSource,
        where expression: Expression? = nil
    ) throws {
        let registry = ModelRegistry.of(try Session(of: source).database)
        collections = try types.map { try registry.entity(of: $0).collection }
        self.expression = expression
    }
}

extension Search {
    /// A sort key.
    public struct Order: Sendable, Hashable, Codable {
        /// The dotted path of the attribute.
        public var path: String

        /// Whether the greatest value is first.
        public var isDescending: Bool

        /// A sort key.
        ///
        /// - Parameters:
        ///   - path: The dotted path of the attribute.
        ///   - direction: The least or the greatest value first.
        public init(_ path: String, _ direction: SortDirection = .ascending) {
            self.path = path
            isDescending = direction == .descending
        }
    }

    /// A document that was found.
    public struct Result: Sendable, Hashable {
        /// Its collection and its `_id`.
        public let key: ObjectKey

        /// Its attributes, or those that were asked for.
        public let document: BSONDocument
    }

    /// What is computed of all documents that are found, disregarding ``limit`` and ``offset``.
    public enum AggregateFunction: Sendable, Hashable, Codable {
        /// How many values an attribute has; of arrays each element.
        case count(String)
        /// The sum of the numbers; 0 when there are none.
        case sum(String)
        /// The average of the numbers; null when there are none.
        case average(String)
        /// The least value; null when there is none.
        case min(String)
        /// The greatest value; null when there is none.
        case max(String)
    }
}
