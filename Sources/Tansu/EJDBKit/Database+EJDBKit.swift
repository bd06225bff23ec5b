// Forms that users of EJDBKit know. They are thin: each says which call of the library it is.
extension Database {
    /// *EJDBKit's form* of `ensureCollection(_:)` and ``collection(_:)``: creates a collection unless it is there.
    ///
    /// - Parameter name: 1 to 120 bytes.
    /// - Returns: The collection.
    /// - Throws: As `ensureCollection(_:)`.
    @discardableResult
    public func ensureCollection(withName name: String) throws -> Collection<BSONDocument> {
        try ensureCollection(name)
        return try collection(name)
    }

    /// *EJDBKit's form* of ``collection(_:)``, for one that must be there.
    ///
    /// - Parameter name: What it is called.
    /// - Returns: The collection; `nil` when there is none.
    /// - Throws: ``TansuError`` with `.invalidName` or `.closed`.
    public func collection(withName name: String) throws -> Collection<BSONDocument>? {
        try collectionNames().contains(name) ? collection(name) : nil
    }

    /// *EJDBKit's form* of `removeCollection(_:)`: removes a collection, its documents and its indexes.
    ///
    /// - Parameter name: What it is called.
    /// - Returns: Whether it was there.
    /// - Throws: As `removeCollection(_:)`.
    @discardableResult
    public func removeCollection(withName name: String) throws -> Bool {
        try removeCollection(name)
    }

    /// *EJDBKit's form* of ``Collection/find(_:hints:)`` and `all()`: the documents or objects that match.
    ///
    /// - Parameters:
    ///   - query: Which; all when empty.
    ///   - hints: How, such as `["$orderby": ["age": -1], "$fields": ["name": 1]]`.
    ///   - collection: Where.
    /// - Throws: As `all()`.
    public func findObjects<Element>(
        withQuery query: BSONDocument, hints: BSONDocument = [:], inCollection collection: Collection<Element>
    ) throws -> [Element] {
        try collection.find(query, hints: hints).all()
    }

    /// *EJDBKit's form* of ``Collection/find(_:hints:)`` and `all()`: the documents that match.
    ///
    /// - Parameters:
    ///   - query: Which; all when empty.
    ///   - hints: How.
    ///   - name: The collection's name.
    /// - Throws: As `all()`.
    public func findObjects(
        withQuery query: BSONDocument, hints: BSONDocument = [:], inCollection name: String
    ) throws -> [BSONDocument] {
        try collection(name).find(query, hints: hints).all()
    }

    /// How a transaction block ends.
    public enum TransactionOutcome: Sendable, Hashable {
        /// What it did is kept.
        case commit

        /// Nothing of it is kept.
        case abort
    }

    /// *EJDBKit's form* of `write`: a block that says at its end whether it is to be kept.
    ///
    /// - Parameter block: What to do; its error aborts as well, and is thrown on.
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

    /// *EJDBKit's form* of `write`: a block over one collection that says at its end whether it is to be kept.
    ///
    /// - Parameters:
    ///   - collection: The collection, which the block is given as it is inside the transaction.
    ///   - block: What to do; its error aborts as well, and is thrown on.
    /// - Returns: Whether it was committed.
    /// - Throws: The block's error, and as `write`.
    @discardableResult
    public func transaction<Element>(
        inCollection collection: Collection<Element>,
        _ block: (Collection<Element>) throws -> TransactionOutcome
    ) throws -> Bool {
        try transaction { try block(collection.moved(to: $0.session)) }
    }
}

private struct AbortedByBlock: Error {}
