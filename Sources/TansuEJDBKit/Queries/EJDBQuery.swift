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
