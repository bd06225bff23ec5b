public import Tansu

// The API of EJDBKit. Each method documents the call of Tansu that it makes.
extension Database {
    /// *EJDBKit's name* for `ensureCollection(_:)` and `collection(_:)`: creates a collection unless it exists.
    ///
    /// - Parameter name: 1 to 120 bytes.
    /// - Returns: The collection.
    /// - Throws: As `ensureCollection(_:)`.
    @discardableResult
    public func ensureCollection(withName name: String) throws -> Collection<BSONDocument> {
        try ensureCollection(name)
        return try collection(name)
    }

    /// *EJDBKit's name* for `collection(_:)`, for one that must exist.
    ///
    /// - Parameter name: Its name.
    /// - Returns: The collection; `nil` when there is none.
    /// - Throws: `TansuError` with `.invalidName` or `.closed`.
    public func collection(withName name: String) throws -> Collection<BSONDocument>? {
        try collectionNames().contains(name) ? collection(name) : nil
    }

    /// *EJDBKit's name* for `dropCollection(_:)`: drops a collection with its documents and indexes.
    ///
    /// - Parameter name: Its name.
    /// - Returns: Whether it existed.
    /// - Throws: As `dropCollection(_:)`.
    @discardableResult
    public func removeCollection(withName name: String) throws -> Bool {
        try dropCollection(name)
    }

    /// *EJDBKit's name* for `Collection/find(_:hints:)` and `all()`: the documents or objects that match.
    ///
    /// - Parameters:
    ///   - query: Which; all when empty.
    ///   - hints: Options, such as `["$orderby": ["age": -1], "$fields": ["name": 1]]`.
    ///   - collection: Where.
    /// - Throws: As `all()`.
    public func findObjects<Element>(
        withQuery query: BSONDocument, hints: BSONDocument = [:], inCollection collection: Collection<Element>
    ) throws -> [Element] {
        try EJDBQuery(collection: collection, query: query, hints: hints).fetchObjects()
    }

    /// *EJDBKit's name* for `Collection/find(_:hints:)` and `all()`: the documents that match.
    ///
    /// - Parameters:
    ///   - query: Which; all when empty.
    ///   - hints: Options.
    ///   - name: The collection's name.
    /// - Throws: As `all()`.
    public func findObjects(
        withQuery query: BSONDocument, hints: BSONDocument = [:], inCollection name: String
    ) throws -> [BSONDocument] {
        try findObjects(withQuery: query, hints: hints, inCollection: collection(name))
    }

    /// *EJDBKit's name* for `Collection/find(_:hints:)` and `all()`, with the query of a builder.
    ///
    /// - Parameters:
    ///   - builder: The builder.
    ///   - collection: Where.
    /// - Throws: As `all()`.
    public func findObjects<Element>(
        withQueryBuilder builder: some EJDBQueryBuilderDelegate, inCollection collection: Collection<Element>
    ) throws -> [Element] {
        try EJDBQuery(collection: collection, queryBuilder: builder).fetchObjects()
    }

    /// *EJDBKit's name* for a query object. Nothing is checked before it is run.
    ///
    /// - Parameters:
    ///   - query: Which documents; all when empty.
    ///   - hints: Options.
    ///   - collection: Where.
    public func createQuery<Element>(
        _ query: BSONDocument, hints: BSONDocument = [:], forCollection collection: Collection<Element>
    ) -> EJDBQuery<Element> {
        EJDBQuery(collection: collection, query: query, hints: hints)
    }

    /// *EJDBKit's name* for a query object, with the query of a builder.
    ///
    /// - Parameters:
    ///   - builder: The builder.
    ///   - collection: Where.
    public func createQuery<Element>(
        withBuilder builder: some EJDBQueryBuilderDelegate, forCollection collection: Collection<Element>
    ) -> EJDBQuery<Element> {
        EJDBQuery(collection: collection, queryBuilder: builder)
    }

    /// How a transaction block ends.
    public enum TransactionOutcome: Sendable, Hashable {
        /// It is committed.
        case commit

        /// It is rolled back.
        case abort
    }

    /// *EJDBKit's name* for `write`: a block that says at its end whether it is to be kept.
    ///
    /// - Parameter block: What to do; its error aborts as well, and is rethrown.
    /// - Returns: Whether it was committed.
    /// - Throws: The block's error, and as `write`.
    @discardableResult
    public func transaction(_ block: (Transaction) throws -> TransactionOutcome) throws -> Bool {
        do {
            try write { transaction in
                if try block(transaction) == .abort { throw AbortedByBlock() }
            }
            return true
        } catch is AbortedByBlock {
            return false
        }
    }

    /// *EJDBKit's name* for `write`: a block over one collection that says at its end whether it is to be kept.
    ///
    /// - Parameters:
    ///   - collection: The collection, which the block is given as it is inside the transaction.
    ///   - block: What to do; its error aborts as well, and is rethrown.
    /// - Returns: Whether it was committed.
    /// - Throws: The block's error, and as `write`.
    @discardableResult
    public func transaction<Element>(
        inCollection collection: Collection<Element>,
        _ block: (Collection<Element>) throws -> TransactionOutcome
    ) throws -> Bool {
        try transaction { try block(collection.using($0.session)) }
    }
}

private struct AbortedByBlock: Error {}
