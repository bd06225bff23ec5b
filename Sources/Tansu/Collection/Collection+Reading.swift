extension Database.Collection {
    /// The document with an id, or `nil` when there is none.
    ///
    /// - Parameter id: Its `_id`.
    /// - Throws: ``TansuError`` with `.invalidID`; `DecodingError`.
    public func get(_ id: some DocumentID) throws -> Element? {
        try session.reading.get(id.bsonID, from: name, codec.decode)
    }

    /// The documents that match, once they are asked for: nothing happens until then.
    ///
    /// For example:
    ///
    /// ```swift
    /// let cats = try people.find(["pet.species": "cat", "age": ["$gt": 10]])
    ///     .sorted(by: "age", .descending)
    ///     .limit(10)
    ///     .all()
    /// ```
    ///
    /// - Parameters:
    ///   - query: Which documents; all when empty.
    ///   - hints: How, such as `["$orderby": ["age": -1], "$max": 10]`; the query's methods say the same.
    public func find(_ query: BSONDocument = [:], hints: BSONDocument = [:]) -> Database.Query<Element> {
        Database.Query(session: session, collection: name, codec: codec, filter: query, hints: hints)
    }

    /// The documents that match, as another type: for the fields that `$fields` leaves.
    ///
    /// - Parameters:
    ///   - query: Which documents; all when empty.
    ///   - hints: How, such as `["$fields": ["name": 1]]`.
    ///   - type: What documents are decoded as.
    public func find<Other: Codable & Sendable>(
        _ query: BSONDocument = [:], hints: BSONDocument = [:], as type: Other.Type
    ) -> Database.Query<Other> {
        find(query, hints: hints).decoded(as: type)
    }

    /// How many documents match.
    ///
    /// - Parameters:
    ///   - query: Which documents; all when empty.
    ///   - hints: How; `$skip` and `$max` count too.
    /// - Throws: ``TansuError`` with `.invalidQuery`.
    public func count(_ query: BSONDocument = [:], hints: BSONDocument = [:]) throws -> Int {
        try find(query, hints: hints).count()
    }
}
