public import Tansu

// The API of EJDBKit. Each method documents the call of Tansu that it makes.
extension Database.Collection {
    /// *EJDBKit's name* for `save`.
    ///
    /// - Parameter object: The document or object.
    /// - Returns: Its `_id`.
    /// - Throws: As `save`.
    @discardableResult
    public func saveObject(_ object: Element) throws -> BSONValue {
        try save(object)
    }

    /// *EJDBKit's name* for `save`, for several in one commit.
    ///
    /// - Parameter objects: The documents or objects.
    /// - Returns: Their `_id`s.
    /// - Throws: As `save`.
    @discardableResult
    public func saveObjects(_ objects: [Element]) throws -> [BSONValue] {
        try save(objects)
    }

    /// *EJDBKit's name* for `get`.
    ///
    /// - Parameter oid: The 24 hexadecimal digits of its id.
    /// - Returns: The document or object; `nil` when there is none.
    /// - Throws: `TansuError` with `.invalidID` (the text is no id), and as `get`.
    public func fetchObject(withOID oid: String) throws -> Element? {
        try get(ObjectID(oid: oid))
    }

    /// *EJDBKit's name* for `remove(id:)`.
    ///
    /// - Parameter oid: The 24 hexadecimal digits of its id.
    /// - Returns: Whether it existed.
    /// - Throws: `TansuError` with `.invalidID` (the text is no id), and as `remove(id:)`.
    @discardableResult
    public func removeObject(withOID oid: String) throws -> Bool {
        try remove(id: ObjectID(oid: oid))
    }

    /// *EJDBKit's name* for `remove(id:)`.
    ///
    /// - Parameter object: The document or object; its `_id` is what counts.
    /// - Returns: Whether it existed.
    /// - Throws: `TansuError` with `.invalidID` (it has no `_id`), and as `remove(id:)`.
    @discardableResult
    public func removeObject(_ object: Element) throws -> Bool {
        try remove(id: storedID(of: object))
    }

    /// *EJDBKit's name* for `update`: the query has the operators in it, as in EJDB 1.
    ///
    /// ```swift
    /// try people.update(withQuery: ["name": "mike", "$inc": ["age": 1]])
    /// ```
    ///
    /// - Parameters:
    ///   - query: Which documents, and the update operators: `$set`, `$inc`, `$push` and the like. Without operators
    ///     and conditions nothing is updated.
    ///   - hints: Options.
    /// - Returns: How many documents matched.
    /// - Throws: `TansuError` with `.invalidQuery` when there are conditions but no operator, and as `update`.
    @discardableResult
    public func update(withQuery query: BSONDocument, hints: BSONDocument = [:]) throws -> Int {
        let operators: Set = [
            "$set", "$unset", "$inc", "$mul", "$min", "$max", "$bit", "$rename", "$currentDate", "$setOnInsert",
            "$push",
            "$pushAll", "$addToSet", "$addToSetAll", "$pull", "$pullAll", "$pop", "$dropall",
        ]
        guard !query.isEmpty else { return 0 }
        let (operations, selector) = query.partitioned { key, _ in operators.contains(key) }
        guard !operations.isEmpty || selector.contains(key: "$upsert") else {
            throw TansuError(.invalidQuery, "The query has no update operator; add one such as \"$set\"", context: name)
        }
        let stored = StoredQuery(selector, hints: hints)
        return try update(stored.filter, operations, hints: stored.hints).matched
    }

    /// *EJDBKit's name* for `update`, with the query and the operators of a builder.
    ///
    /// - Parameter builder: The builder.
    /// - Returns: How many documents matched.
    /// - Throws: As `update(withQuery:hints:)`.
    @discardableResult
    public func update(withQueryBuilder builder: some EJDBQueryBuilderDelegate) throws -> Int {
        try update(withQuery: builder.query, hints: builder.hints)
    }
}

// As EJDB, which has no other ids, these take text of 24 hexadecimal digits as an ObjectID.
extension Database.Collection<BSONDocument> {
    /// *EJDBKit's name* for `save`. An `_id` that is text of 24 hexadecimal digits is saved as an ObjectID.
    ///
    /// - Parameter object: The document.
    /// - Returns: Its `_id`.
    /// - Throws: As `save`.
    @discardableResult
    public func saveObject(_ object: BSONDocument) throws -> BSONValue {
        try save(object.withObjectID)
    }

    /// *EJDBKit's name* for `save`, for several in one commit. An `_id` that is text of 24 hexadecimal digits is saved
    /// as an ObjectID.
    ///
    /// - Parameter objects: The documents.
    /// - Returns: Their `_id`s.
    /// - Throws: As `save`.
    @discardableResult
    public func saveObjects(_ objects: [BSONDocument]) throws -> [BSONValue] {
        try save(objects.map(\.withObjectID))
    }

    /// *EJDBKit's name* for `remove(id:)`. An `_id` that is text of 24 hexadecimal digits is an ObjectID.
    ///
    /// - Parameter object: The document; its `_id` is what counts.
    /// - Returns: Whether it existed.
    /// - Throws: `TansuError` with `.invalidID` (it has no `_id`), and as `remove(id:)`.
    @discardableResult
    public func removeObject(_ object: BSONDocument) throws -> Bool {
        try remove(id: storedID(of: object.withObjectID))
    }
}

extension ObjectID {
    fileprivate init(oid: String) throws {
        guard let id = ObjectID(oid) else {
            throw TansuError(.invalidID, "\"\(oid)\" is not an ObjectID; pass 24 hexadecimal digits", context: "_id")
        }
        self = id
    }
}
