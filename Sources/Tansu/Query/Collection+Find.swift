extension Database.Collection {
    /// A query for the documents that match. It runs when its documents are requested.
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
    ///   - hints: Options, such as `["$orderby": ["age": -1], "$max": 10]`; the methods of the query set the same
    ///     options.
    public func find(_ query: BSONDocument = [:], hints: BSONDocument = [:]) -> Database.Query<Element> {
        do {
            let (filter, hints) = try stored(query, hints)
            return Database.Query(session: session, collection: name, codec: codec, filter: filter, hints: hints)
        } catch {
            // A query throws when it runs.
            var failing = Database.Query(
                session: session, collection: name, codec: codec, filter: query, hints: hints)
            failing.fault = error as? TansuError ?? TansuError(.invalidQuery, failureReason(of: error))
            return failing
        }
    }

    /// A query for the documents that match, decoded as another type, for the fields that `$fields` includes.
    ///
    /// - Parameters:
    ///   - query: Which documents; all when empty.
    ///   - hints: Options, such as `["$fields": ["name": 1]]`.
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
    ///   - hints: Options; `$skip` and `$max` count too.
    /// - Throws: ``TansuError`` with `.invalidQuery`.
    public func count(_ query: BSONDocument = [:], hints: BSONDocument = [:]) throws -> Int {
        try find(query, hints: hints).count()
    }

    /// How many documents match. Where the caller runs, if counting takes less than a millisecond; on a thread of the
    /// database otherwise.
    ///
    /// - Parameters:
    ///   - query: Which documents; all when empty.
    ///   - hints: Options; `$skip` and `$max` count too.
    ///   - isolation: The actor on which a short query runs: the caller's.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func count(
        _ query: BSONDocument = [:], hints: BSONDocument = [:], isolation: isolated (any Actor)? = #isolation
    ) async throws -> Int {
        try await find(query, hints: hints).count()
    }
}
