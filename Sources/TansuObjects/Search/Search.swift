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

// MARK: - Commands

extension Search {
    /// The query document that runs in each collection.
    ///
    /// - Throws: `TansuError` with `.invalidArgument`: the name of an attribute is empty or has a NUL character, a value does not
    ///   fit its comparison, or the expression has too many levels.
    public var query: BSONDocument {
        get throws { try expression?.query ?? [:] }
    }

    /// The hints of that query: order, range and fields.
    ///
    /// - Throws: `TansuError` with `.invalidArgument` for a limit or an offset below zero, and an empty path.
    public var hints: BSONDocument {
        get throws {
            guard limit >= 0, offset >= 0 else {
                throw TansuError(
                    .invalidArgument, "The limit or the offset of a search is below zero; use 0 for none",
                    context: limit < 0 ? "limit" : "offset")
            }
            var hints: BSONDocument = [:]
            if !order.isEmpty {
                var keys: BSONDocument = [:]
                for key in order where keys[key.path] == nil {
                    try key.path.checkAttribute()
                    keys[key.path] = key.isDescending ? -1 : 1
                }
                hints["$orderby"] = .document(keys)
            }
            if !returnedAttributes.isEmpty {
                var fields: BSONDocument = [:]
                for path in returnedAttributes {
                    try path.checkAttribute()
                    fields[path] = 1
                }
                hints["$fields"] = .document(fields)
            }
            if offset > 0 { hints["$skip"] = BSONValue(offset) }
            if limit > 0 { hints["$max"] = BSONValue(limit) }
            return hints
        }
    }

    /// The commands in JSON form that find the same documents, one for each collection. With several collections, order, limit and
    /// offset are those of all of them together, which no single command has.
    ///
    /// - Parameter source: A database or a transaction, for its collections.
    /// - Throws: As ``query`` and ``hints``.
    public func commands(in source: some ObjectSource) throws -> [BSONDocument] {
        let session = try Session(of: source)
        let (query, hints) = (try query, try hints)
        return try names(in: session).map { name in
            let stored = try session.stored(query, ordering: order.map(\.path), in: name)
            return ["op": "find", "collection": .string(name), "query": .document(stored), "hints": .document(hints)]
        }
    }

    /// The names of the collections.
    func names(in session: Session) throws -> [String] {
        guard !collections.isEmpty else {
            return try session.collections().map(\.name).filter { !CommandLimits.isOwned($0) }
        }
        var seen: Set<BytewiseText> = []
        return collections.filter { seen.insert(BytewiseText($0)).inserted }
    }
}

extension Session {
    /// Where a database's or a transaction's calls run.
    init(of source: some ObjectSource) throws {
        if let database = source as? Database {
            self.init(database)
        } else if let transaction = source as? Database.Transaction {
            self = transaction.session
        } else {
            throw TansuError(.invalidArgument, "A search runs in a database or a transaction; give one of these")
        }
    }

    /// A query with its values in the form in which a collection of the model stores them.
    ///
    /// - Parameter paths: What the results are sorted by or computed of.
    /// - Throws: ``TansuError`` with `.invalidQuery`: what it compares, sorts by or computes with is not stored in the order
    ///   of its type.
    func stored(
        _ query: BSONDocument, ordering paths: some Sequence<String> = [], in collection: String
    ) throws -> BSONDocument {
        let entities = ModelRegistry.of(database).model?.entities
        guard let entity = entities?.first(where: { $0.collection == collection }) else { return query }
        let stored = try storedQuery(query, of: collection, entity.coding)
        for path in paths { try StoredOrder.check(path: path, of: entity.elementType, entity.coding) }
        return stored
    }
}

// MARK: - ObjectSource: removing

extension ObjectSource {
    /// Removes documents of any collections, in one commit: `try db.remove(search.keys(in: db))`.
    ///
    /// - Parameter keys: Their collections and ids, such as those of a search.
    /// - Returns: How many were there.
    /// - Throws: `TansuError` with what a commit can throw; then nothing is removed.
    @discardableResult
    public func remove(_ keys: some Sequence<ObjectKey>) throws -> Int {
        try Session(of: self).inTransaction { try $0.remove(keys) }
    }

    /// Removes documents of any collections, in one commit.
    ///
    /// - Parameter keys: Their collections and ids, such as those of a search.
    /// - Returns: How many were there.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func remove(_ keys: some Sequence<ObjectKey>) async throws -> Int {
        let keys = Array(keys)
        return try await Session(of: self).runCancellable(.write) { session in
            try session.inTransaction { try $0.remove(keys) }
        }
    }
}

extension Session {
    fileprivate func remove(_ keys: some Sequence<ObjectKey>) throws -> Int {
        try keys.reduce(0) { try $0 + (remove(id: $1.id, from: $1.collection) ? 1 : 0) }
    }
}

// MARK: - SearchUnion

/// The documents of several collections in one, which a database in memory keeps: so they are sorted, and their values
/// compared and summed up, by the rules of queries.
struct SearchUnion {
    private let database: Database
    private let documents: Database.Collection<BSONDocument>

    /// Where the document is in one of the union.
    private static let field = "document"

    init(of results: [Search.Result]) throws {
        database = try Database(.memory)
        documents = try database.collection("results")
        try documents.save(
            results.enumerated().map { number, result in
                [
                    "_id": BSONValue(number), "collection": .string(result.key.collection),
                    Self.field: .document(result.document),
                ]
            })
    }

    /// The documents in an order and a range.
    func results(_ hints: BSONDocument) throws -> [Search.Result] {
        var own = hints
        if let order = hints["$orderby"]?.documentValue { own["$orderby"] = .document(Self.inside(order)) }
        if let fields = hints["$fields"]?.documentValue {
            var fields = fields
            fields["_id"] = 1
            var inside = Self.inside(fields)
            inside["collection"] = 1
            own["$fields"] = .document(inside)
        }
        return try documents.find([:], hints: own).all().map {
            Search.Result(
                $0[Self.field]?.documentValue ?? [:], in: $0["collection"]?.stringValue ?? "")
        }
    }

    func distinctValues(of path: String, _ hints: BSONDocument) throws -> [BSONValue] {
        try documents.distinct("\(Self.field).\(path)", hints: hints)
    }

    func aggregate(_ name: String, _ path: String) throws -> [BSONDocument] {
        try documents.aggregate(group: ["fields": ["value": [name: .string("\(Self.field).\(path)")]]])
    }

    private static func inside(_ paths: BSONDocument) -> BSONDocument {
        BSONDocument(paths.map { ("\(field).\($0.key)", $0.value) })
    }
}
