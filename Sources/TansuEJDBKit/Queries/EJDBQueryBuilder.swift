public import Tansu

/// *EJDBKit's* query builder: an object to which conditions are added one after the other.
///
/// A path has one condition: a second one replaces the first. Use ``andJoin(_:)`` for several.
///
/// For example:
///
/// ```swift
/// let builder = EJDBQueryBuilder()
/// builder.path("name", beginsWith: "j")
/// builder.maxRecords(10)
/// let people = try db.findObjects(withQueryBuilder: builder, inCollection: collection)
/// ```
public final class EJDBQueryBuilder: EJDBQueryBuilderDelegate {
    private var built = EJDBFIQueryBuilder()

    /// The query: conditions, and update operators.
    public var query: BSONDocument { built.query }

    /// The hints: order, limit, skip and fields.
    public var hints: BSONDocument { built.hints }

    /// The joins of the query, its `$do`.
    public var joins: BSONDocument { built.joins }

    /// A query for all documents.
    public init() {}

    private func add(_ part: (EJDBFIQueryBuilder) -> EJDBFIQueryBuilder) { built = part(built) }
}

// MARK: - Conditions

extension EJDBQueryBuilder {
    /// The path has the value.
    public func path(_ path: String, matches value: BSONValue) { add { $0.match(path, value) } }

    /// The path does not have the value.
    public func path(_ path: String, notMatches value: BSONValue) { add { $0.notMatch(path, value) } }

    /// The path has the text, ignoring case.
    public func path(_ path: String, matchesIgnoreCase text: String) { add { $0.matchIgnoreCase(path, text) } }

    /// The text at the path begins with a prefix.
    public func path(_ path: String, beginsWith prefix: String) { add { $0.beginsWith(path, prefix) } }

    /// The text at the path does not begin with a prefix.
    public func path(_ path: String, notBeginsWith prefix: String) { add { $0.notBeginsWith(path, prefix) } }

    /// The value at the path is greater.
    public func path(_ path: String, greaterThan value: BSONValue) { add { $0.greaterThan(path, value) } }

    /// The value at the path is greater or equal.
    public func path(_ path: String, greaterThanOrEqualTo value: BSONValue) {
        add { $0.greaterThanOrEqualTo(path, value) }
    }

    /// The value at the path is less.
    public func path(_ path: String, lessThan value: BSONValue) { add { $0.lessThan(path, value) } }

    /// The value at the path is less or equal.
    public func path(_ path: String, lessThanOrEqualTo value: BSONValue) {
        add { $0.lessThanOrEqualTo(path, value) }
    }

    /// The value at the path is between two values, both included.
    public func path(_ path: String, between bounds: [BSONValue]) { add { $0.between(path, bounds) } }

    /// The path has one of the values.
    public func path(_ path: String, in values: [BSONValue]) { add { $0.in(path, values) } }

    /// The path has one of the texts, ignoring case.
    public func path(_ path: String, inIgnoreCase values: [BSONValue]) { add { $0.inIgnoreCase(path, values) } }

    /// The path has none of the values.
    public func path(_ path: String, notIn values: [BSONValue]) { add { $0.notIn(path, values) } }

    /// The path has none of the texts, ignoring case.
    public func path(_ path: String, notInIgnoreCase values: [BSONValue]) {
        add { $0.notInIgnoreCase(path, values) }
    }

    /// The text at the path has all of the words.
    public func path(_ path: String, stringAllIn words: [BSONValue]) { add { $0.stringAllIn(path, words) } }

    /// The text at the path has one of the words.
    public func path(_ path: String, stringAnyIn words: [BSONValue]) { add { $0.stringAnyIn(path, words) } }

    /// The path exists, or does not.
    public func path(_ path: String, exists: Bool) { add { exists ? $0.exists(path) : $0.notExists(path) } }

    /// The array at the path has an element that satisfies a query.
    public func path(_ path: String, elementsMatch builder: some EJDBQueryBuilderDelegate) {
        add { $0.elemsMatch(path, builder) }
    }

    /// All of several queries.
    public func andJoin(_ queries: [any EJDBQueryBuilderDelegate]) { add { $0.andJoin(queries) } }

    /// One of several queries.
    public func orJoin(_ queries: [any EJDBQueryBuilderDelegate]) { add { $0.orJoin(queries) } }
}

// MARK: - Results

extension EJDBQueryBuilder {
    /// The documents of a collection in place of their ids at the path.
    public func path(_ path: String, addCollectionToJoin collection: String) {
        add { $0.addJoinToCollection(path, collection) }
    }

    /// Of the array at the path only the element that matched.
    public func projection(forPath path: String) { add { $0.projection(path) } }

    /// At most that many documents.
    public func maxRecords(_ count: Int) { add { $0.maxRecords(count) } }

    /// Without the first documents.
    public func skipRecords(_ count: Int) { add { $0.skipRecords(count) } }

    /// Only some fields.
    public func onlyFields(_ paths: [String]) { add { $0.onlyFields(paths) } }

    /// The order; the first paths take precedence.
    public func orderBy(_ paths: [EJDBQueryOrderByHint]) { add { $0.orderBy(paths) } }
}

// MARK: - Updates

extension EJDBQueryBuilder {
    /// Sets fields.
    public func set(_ fields: BSONDocument) { add { $0.set(fields) } }

    /// Sets fields, or inserts a document of them when none matches.
    public func upsert(_ fields: BSONDocument) { add { $0.upsert(fields) } }

    /// Adds to numbers.
    public func increment(_ fields: BSONDocument) { add { $0.increment(fields) } }

    /// Adds values to arrays that do not have them.
    public func addToSet(_ fields: BSONDocument) { add { $0.addToSet(fields) } }

    /// Adds the values of arrays to arrays that do not have them.
    public func addToSetAll(_ fields: BSONDocument) { add { $0.addToSetAll(fields) } }

    /// Removes values from arrays.
    public func pull(_ fields: BSONDocument) { add { $0.pull(fields) } }

    /// Removes the values of arrays from arrays.
    public func pullAll(_ fields: BSONDocument) { add { $0.pullAll(fields) } }

    /// Removes fields.
    public func unset(_ paths: [String]) { add { $0.unset(paths) } }

    /// Removes the documents.
    public func dropAll() { add { $0.dropAll() } }
}

/// *EJDBKit's name* for what makes a query: ``EJDBQueryBuilder`` and ``EJDBFIQueryBuilder``.
public protocol EJDBQueryBuilderDelegate {
    /// The query: conditions, and update operators.
    var query: BSONDocument { get }

    /// The hints: order, limit, skip and fields.
    var hints: BSONDocument { get }

    /// The joins of the query, its `$do`.
    var joins: BSONDocument { get }
}

/// *EJDBKit's name* for a path of an order.
public struct EJDBQueryOrderByHint: Sendable, Hashable {
    /// The dotted path.
    public let path: String

    /// The direction.
    public let direction: SortDirection

    /// A path of an order.
    ///
    /// - Parameters:
    ///   - path: The dotted path.
    ///   - direction: The direction.
    public static func orderPath(_ path: String, direction: SortDirection) -> Self {
        Self(path: path, direction: direction)
    }
}
