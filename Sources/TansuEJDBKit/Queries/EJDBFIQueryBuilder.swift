public import Tansu

/// *EJDBKit's* fluent query builder: a value whose methods return the query with one part more.
///
/// A path has one condition: a second one replaces the first. Use ``andJoin(_:)`` for several.
///
/// For example:
///
/// ```swift
/// let query = EJDBFIQueryBuilder.build().beginsWith("name", "j").greaterThan("age", 30).maxRecords(10)
/// let people = try db.findObjects(withQueryBuilder: query, inCollection: collection)
/// ```
public struct EJDBFIQueryBuilder: EJDBQueryBuilderDelegate, Sendable, Hashable {
    /// The query: conditions, and update operators.
    public private(set) var query: BSONDocument = [:]

    /// The hints: order, limit, skip and fields.
    public private(set) var hints: BSONDocument = [:]

    /// The joins of the query, its `$do`.
    public var joins: BSONDocument { query["$do"]?.documentValue ?? [:] }

    /// A query for all documents.
    public init() {}

    /// A query for all documents.
    public static func build() -> Self { Self() }

    private func adding(_ key: String, _ value: BSONValue) -> Self {
        var result = self
        result.query[key] = value
        return result
    }

    private func addingHint(_ key: String, _ value: BSONValue) -> Self {
        var result = self
        result.hints[key] = value
        return result
    }
}

// MARK: - Conditions

extension EJDBFIQueryBuilder {
    /// The path has the value.
    public func match(_ path: String, _ value: BSONValue) -> Self { adding(path, value) }

    /// The path does not have the value.
    public func notMatch(_ path: String, _ value: BSONValue) -> Self { adding(path, ["$not": value]) }

    /// The path has the text, ignoring case.
    public func matchIgnoreCase(_ path: String, _ text: String) -> Self { adding(path, ["$icase": .string(text)]) }

    /// The text at the path begins with a prefix.
    public func beginsWith(_ path: String, _ prefix: String) -> Self { adding(path, ["$begin": .string(prefix)]) }

    /// The text at the path does not begin with a prefix.
    public func notBeginsWith(_ path: String, _ prefix: String) -> Self {
        adding(path, ["$not": ["$begin": .string(prefix)]])
    }

    /// The value at the path is greater.
    public func greaterThan(_ path: String, _ value: BSONValue) -> Self { adding(path, ["$gt": value]) }

    /// The value at the path is greater or equal.
    public func greaterThanOrEqualTo(_ path: String, _ value: BSONValue) -> Self { adding(path, ["$gte": value]) }

    /// The value at the path is less.
    public func lessThan(_ path: String, _ value: BSONValue) -> Self { adding(path, ["$lt": value]) }

    /// The value at the path is less or equal.
    public func lessThanOrEqualTo(_ path: String, _ value: BSONValue) -> Self { adding(path, ["$lte": value]) }

    /// The value at the path is between two values, both included.
    public func between(_ path: String, _ bounds: [BSONValue]) -> Self { adding(path, ["$bt": BSONValue(bounds)]) }

    /// The path has one of the values.
    public func `in`(_ path: String, _ values: [BSONValue]) -> Self { adding(path, ["$in": BSONValue(values)]) }

    /// The path has one of the texts, ignoring case.
    public func inIgnoreCase(_ path: String, _ values: [BSONValue]) -> Self {
        adding(path, ["$icase": ["$in": BSONValue(values)]])
    }

    /// The path has none of the values.
    public func notIn(_ path: String, _ values: [BSONValue]) -> Self { adding(path, ["$nin": BSONValue(values)]) }

    /// The path has none of the texts, ignoring case.
    public func notInIgnoreCase(_ path: String, _ values: [BSONValue]) -> Self {
        adding(path, ["$icase": ["$nin": BSONValue(values)]])
    }

    /// The text at the path has all of the words.
    public func stringAllIn(_ path: String, _ words: [BSONValue]) -> Self {
        adding(path, ["$strand": BSONValue(words)])
    }

    /// The text at the path has one of the words.
    public func stringAnyIn(_ path: String, _ words: [BSONValue]) -> Self { adding(path, ["$stror": BSONValue(words)]) }

    /// The path exists.
    public func exists(_ path: String) -> Self { adding(path, ["$exists": true]) }

    /// The path does not exist.
    public func notExists(_ path: String) -> Self { adding(path, ["$exists": false]) }

    /// The array at the path has an element that satisfies a query.
    public func elemsMatch(_ path: String, _ builder: some EJDBQueryBuilderDelegate) -> Self {
        adding(path, ["$elemMatch": .document(builder.query)])
    }

    /// All of several queries.
    public func andJoin(_ queries: [any EJDBQueryBuilderDelegate]) -> Self {
        adding("$and", BSONValue(queries.map { .document($0.query) }))
    }

    /// One of several queries.
    public func orJoin(_ queries: [any EJDBQueryBuilderDelegate]) -> Self {
        adding("$or", BSONValue(queries.map { .document($0.query) }))
    }
}

// MARK: - Results

extension EJDBFIQueryBuilder {
    /// The documents of a collection in place of their ids at the path.
    public func addJoinToCollection(_ path: String, _ collection: String) -> Self {
        var joins = joins
        joins[path] = ["$join": .string(collection)]
        return adding("$do", .document(joins))
    }

    /// Of the array at the path only the element that matched.
    public func projection(_ path: String) -> Self { adding(path + ".$", 1) }

    /// At most that many documents.
    public func maxRecords(_ count: Int) -> Self { addingHint("$max", BSONValue(count)) }

    /// Without the first documents.
    public func skipRecords(_ count: Int) -> Self { addingHint("$skip", BSONValue(count)) }

    /// Only some fields.
    public func onlyFields(_ paths: [String]) -> Self {
        addingHint("$fields", .document(BSONDocument(paths.map { ($0, 1) })))
    }

    /// The order; the first paths take precedence.
    public func orderBy(_ paths: [EJDBQueryOrderByHint]) -> Self {
        addingHint(
            "$orderby", .document(BSONDocument(paths.map { ($0.path, $0.direction == .ascending ? 1 : -1) })))
    }
}

// MARK: - Updates

extension EJDBFIQueryBuilder {
    /// Sets fields.
    public func set(_ fields: BSONDocument) -> Self { adding("$set", .document(fields)) }

    /// Sets fields, or inserts a document of them when none matches.
    public func upsert(_ fields: BSONDocument) -> Self { adding("$upsert", .document(fields)) }

    /// Adds to numbers.
    public func increment(_ fields: BSONDocument) -> Self { adding("$inc", .document(fields)) }

    /// Adds values to arrays that do not have them.
    public func addToSet(_ fields: BSONDocument) -> Self { adding("$addToSet", .document(fields)) }

    /// Adds the values of arrays to arrays that do not have them.
    public func addToSetAll(_ fields: BSONDocument) -> Self { adding("$addToSetAll", .document(fields)) }

    /// Removes values from arrays.
    public func pull(_ fields: BSONDocument) -> Self { adding("$pull", .document(fields)) }

    /// Removes the values of arrays from arrays.
    public func pullAll(_ fields: BSONDocument) -> Self { adding("$pullAll", .document(fields)) }

    /// Removes fields.
    public func unset(_ paths: [String]) -> Self {
        adding("$unset", .document(BSONDocument(paths.map { ($0, "") })))
    }

    /// Removes the documents.
    public func dropAll() -> Self { adding("$dropall", true) }
}
