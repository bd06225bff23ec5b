public import Tansu

/// *EJDBKit's* query object: a query of a collection that can be run any number of times.
///
/// For example:
///
/// ```swift
/// let query = EJDBQuery(collection: people, query: ["name": ["$begin": "j"]])
/// let found = try query.fetchObjects()
/// print(query.recordCount)
/// ```
public final class EJDBQuery<Element: Sendable> {
    /// The collection.
    public let collection: Database.Collection<Element>

    /// Which documents; all when empty.
    public var query: BSONDocument

    /// Options, such as `["$orderby": ["age": -1]]`.
    public var hints: BSONDocument

    /// How many documents or objects the last call found; 0 before the first.
    public private(set) var recordCount = 0

    /// Makes a query.
    ///
    /// - Parameters:
    ///   - collection: Where.
    ///   - query: Which documents; all when empty.
    ///   - hints: Options.
    public init(collection: Database.Collection<Element>, query: BSONDocument = [:], hints: BSONDocument = [:]) {
        self.collection = collection
        self.query = query
        self.hints = hints
    }

    /// Makes the query of a builder.
    ///
    /// - Parameters:
    ///   - collection: Where.
    ///   - builder: The builder; what is added to it later does not count.
    public convenience init(
        collection: Database.Collection<Element>, queryBuilder builder: some EJDBQueryBuilderDelegate
    ) {
        self.init(collection: collection, query: builder.query, hints: builder.hints)
    }

    /// *EJDBKit's name* for `count()`: how many documents match, without reading them. `$skip` and `$max` count too.
    ///
    /// - Throws: As `count()`.
    public func fetchCount() throws -> Int {
        recordCount = try found.count()
        return recordCount
    }

    /// *EJDBKit's name* for `first()`.
    ///
    /// - Returns: The first document or object; `nil` when there is none.
    /// - Throws: As `first()`.
    public func fetchObject() throws -> Element? {
        let object = try found.first()
        recordCount = object == nil ? 0 : 1
        return object
    }

    /// *EJDBKit's name* for `all()`.
    ///
    /// - Throws: As `all()`.
    public func fetchObjects() throws -> [Element] {
        let objects = try found.all()
        recordCount = objects.count
        return objects
    }

    private var found: Database.Query<Element> {
        let stored = StoredQuery(query, hints: hints)
        return collection.find(stored.filter, hints: stored.hints)
    }
}

/// A query as EJDB reads it, in the words of the engine.
///
/// - In `_id`, text of 24 hexadecimal digits is the ObjectID that it stands for.
/// - `$join` finds documents by such text, too.
/// - `"path.$": 1` in the query is a projection.
struct StoredQuery {
    let filter: BSONDocument
    let hints: BSONDocument

    init(_ query: BSONDocument, hints: BSONDocument = [:]) {
        let (positions, conditions) = query.partitioned { $0.isPosition && $1.isTrue }
        filter = conditions.withObjectIDs
        var hints = hints.mapFields { $0 == "$do" ? $1.withHexIDs : $1 }
        if !positions.isEmpty {
            let fields = hints["$fields"]?.documentValue ?? [:]
            hints["$fields"] = .document(BSONDocument(fields.map { ($0, $1) } + positions.map { ($0, $1) }))
        }
        self.hints = hints
    }
}

extension BSONDocument {
    /// The document with its `_id`, where that is text of 24 hexadecimal digits, as an ObjectID.
    var withObjectID: BSONDocument {
        mapFields { $0 == "_id" ? $1.asObjectID : $1 }
    }

    /// The query with all conditions on `_id` so.
    fileprivate var withObjectIDs: BSONDocument {
        mapFields { key, value in
            switch key {
            case "_id": value.withObjectIDs
            case "$and", "$or", "$nor", "$not": value.mapQueries(\.withObjectIDs)
            case "$do": value.withHexIDs
            case "$upsert": value.mapQueries(\.withObjectID)
            default: value
            }
        }
    }

    fileprivate func mapFields(_ transform: (String, BSONValue) -> BSONValue) -> BSONDocument {
        BSONDocument(map { ($0, transform($0, $1)) })
    }

    private func fields(where condition: (String, BSONValue) -> Bool) -> BSONDocument {
        BSONDocument(filter { condition($0.key, $0.value) }.map { ($0, $1) })
    }

    /// The fields that satisfy a condition, and the others.
    func partitioned(_ condition: (String, BSONValue) -> Bool) -> (BSONDocument, BSONDocument) {
        (fields(where: condition), fields { !condition($0, $1) })
    }
}

extension BSONValue {
    /// The ObjectID that text stands for; every other value as it is.
    fileprivate var asObjectID: BSONValue {
        stringValue.flatMap(ObjectID.init).map { .objectID($0) } ?? self
    }

    /// A condition on an id: its operands, and those in its arrays, as ObjectIDs.
    fileprivate var withObjectIDs: BSONValue {
        switch self {
        case .string: asObjectID
        case .array(let values): BSONValue(values.map(\.withObjectIDs))
        case .document(let operators):
            .document(operators.mapFields { Self.idOperators.contains($0) ? $1.withObjectIDs : $1 })
        default: self
        }
    }

    private static let idOperators: Set = [
        "$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$bt", "$between", "$in", "$nin", "$not", "$and", "$or", "$nor",
    ]

    /// A query, or an array of queries, each transformed.
    fileprivate func mapQueries(_ transform: (BSONDocument) -> BSONDocument) -> BSONValue {
        switch self {
        case .array(let values): BSONValue(values.map { $0.mapQueries(transform) })
        case .document(let query): .document(transform(query))
        default: self
        }
    }

    /// The operand of `$do`, whose joins find ObjectIDs by their digits.
    fileprivate var withHexIDs: BSONValue {
        guard let paths = documentValue else { return self }
        return .document(
            paths.mapFields { _, action in
                guard var join = action.documentValue, join.contains(key: "$join"), !join.contains(key: "$hexIds")
                else { return action }
                join["$hexIds"] = true
                return .document(join)
            })
    }

    fileprivate var isTrue: Bool { boolValue == true || intValue == 1 }
}

extension String {
    /// Whether this is a path `path.$` or `path.$.below`.
    fileprivate var isPosition: Bool { hasSuffix(".$") || contains(".$.") }
}
