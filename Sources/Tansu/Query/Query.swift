extension Database {
    /// A query on a collection. It runs when its documents are requested: all, the first, their number, one after
    /// another, or its plan.
    ///
    /// A query is a value: the methods that refine it return another one. It may run many times, each time on the
    /// current state of the database. In an asynchronous context, iterate over it directly:
    ///
    /// ```swift
    /// for try await person in people.find(["age": ["$gte": 18]]) { … }
    /// ```
    public struct Query<Element: Sendable>: Sendable {
        /// Which documents, with values in the form in which they are stored.
        public internal(set) var filter: BSONDocument

        /// Options: order, range, fields.
        public internal(set) var hints: BSONDocument

        package internal(set) var session: Session
        package let collection: String
        package internal(set) var codec: DocumentCodec<Element>

        /// Whether documents are sorted by `_id` last, only so that no two are equal.
        var isPaged = false

        /// Why it cannot run, such as a comparison by order of what is not stored in its order.
        var fault: TansuError?

        init(
            session: Session, collection: String, codec: DocumentCodec<Element>, filter: BSONDocument,
            hints: BSONDocument
        ) {
            self.session = session
            self.collection = collection
            self.codec = codec
            self.filter = filter
            self.hints = hints
        }

        /// The codec for the documents of this query, at the paths of whose joins there may be ids.
        var reader: DocumentCodec<Element> {
            var reader = codec
            reader.joins = joins.map(\.path)
            return reader
        }

        /// The paths at which it joins documents, with their collections.
        private var joins: [(path: String, collection: String)] {
            [hints["$do"], filter["$do"]].flatMap { joins in
                joins?.documentValue?.compactMap { path, action in
                    action.documentValue?["$join"].map { (path, $0.stringValue ?? "") }
                } ?? []
            }
        }

        /// Checks that the documents that it joins can be decoded as parts of its own.
        private func checkJoins() throws {
            guard hints["$do"] != nil || filter["$do"] != nil, Element.self != BSONDocument.self else { return }
            for (path, joined) in joins {
                guard let coding = ReferenceTargets.of(session.database).coding(of: joined),
                    let type = SwiftKeyPath.propertyType(atPath: path, of: Element.self),
                    !StoredProperty.isStoredAlike(type, codec.strategies, coding)
                else { continue }
                throw TansuError(
                    .invalidQuery,
                    "The query joins \"\(joined)\", which stores values in another form than \"\(collection)\", so that they"
                        + " cannot be decoded as one; use including(_:), or decode as BSONDocument", context: path)
            }
        }

        /// Checks that what it compares and sorts by is stored in the order of its type.
        ///
        /// - Throws: ``TansuError`` with `.invalidQuery`.
        package func checkOrder() throws {
            if let fault { throw fault }
            try checkJoins()
            var hints = hints
            if isPaged, var order = hints["$orderby"]?.documentValue {
                order["_id"] = nil
                hints["$orderby"] = .document(order)
            }
            try codec.checkOrder(hints)
        }

        /// The collection with the documents of this query, as it decodes them.
        package var ownCollection: Database.Collection<Element> {
            Database.Collection(session: session, name: collection, codec: codec)
        }

        /// The same query in a transaction.
        package func inTransaction(_ transaction: Database.Transaction) -> Self { using(transaction.session) }

        /// The same query in another session.
        package func using(_ session: Session) -> Self {
            var query = self
            query.session = session
            return query
        }

        /// The same query with another codec.
        func using<Other>(_ codec: DocumentCodec<Other>) -> Database.Query<Other> {
            var query = Database.Query<Other>(
                session: session, collection: collection, codec: codec, filter: filter, hints: hints)
            (query.isPaged, query.fault) = (isPaged, fault)
            return query
        }
    }
}

// MARK: - Collection: find

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

// MARK: - Refining

extension Database.Query {
    /// The same documents sorted by a path. Further calls add less significant sort keys.
    ///
    /// - Parameters:
    ///   - path: The dotted path of the value to sort by.
    ///   - direction: The least or the greatest first.
    public func sorted(by path: String, _ direction: SortDirection = .ascending) -> Self {
        var order = hints["$orderby"]?.documentValue ?? [:]
        order[path] = direction.bsonValue
        return hinted("$orderby", .document(order))
    }

    /// Those of the same documents that also match another query document.
    ///
    /// - Parameter condition: The query document.
    public func and(_ condition: BSONDocument) -> Self { and(ownCollection.find(condition)) }

    /// Those of the same documents that also match another query of the collection.
    func and(_ other: Self) -> Self {
        let condition = other.filter
        var (both, own) = (condition, filter)
        // Joins belong to the whole query.
        let joins = own.removeValue(forKey: "$do")
        if !own.isEmpty && !condition.isEmpty {
            let parts = own.count == 1 ? own["$and"]?.arrayValue.map(Array.init) : nil
            both = ["$and": BSONValue((parts ?? [.document(own)]) + [.document(condition)])]
        } else if condition.isEmpty {
            both = own
        }
        if let joins { both["$do"] = joins }
        var query = self
        query.filter = both
        query.fault = fault ?? other.fault
        return query
    }

    /// The same documents without the first `count`.
    ///
    /// - Parameter count: 0 or more; with a negative number the query throws.
    public func skip(_ count: Int) -> Self {
        hinted("$skip", BSONValue(count)).checked(count, "skip")
    }

    /// The first `count` of the same documents; none for 0, whatever a later limit.
    ///
    /// - Parameter count: 0 or more; with a negative number the query throws.
    public func limit(_ count: Int) -> Self {
        var query = hinted("$max", BSONValue(count)).checked(count, "limit")
        // The other name of the hint: both at once are an error.
        query.hints["$limit"] = nil
        // To the engine, 0 is no limit. A search has scores, which the order may need.
        if count == 0 {
            let nothing: BSONDocument = ["_id": ["$in": []]]
            query.filter = hasScores ? ["$and": [.document(filter), .document(nothing)]] : nothing
        }
        return query
    }

    /// The same query, which cannot run when a count is negative.
    private func checked(_ count: Int, _ name: String) -> Self {
        guard count < 0 else { return self }
        var query = self
        query.fault =
            fault
            ?? TansuError(
                .invalidQuery, "The number of documents \(count) is negative; pass 0 or more", context: "\(name)(_:)")
        return query
    }

    /// The same documents with only some of their fields.
    ///
    /// - Parameter fields: Paths to include (`["name": 1]`) or to exclude (`["photo": 0]`).
    public func fields(_ fields: BSONDocument) -> Self {
        hinted("$fields", .document(fields))
    }

    /// The same documents, with or without temporary files for sorts and groups that do not fit into memory.
    ///
    /// A sort that needs more than 100 MiB, and groups that need more than 256 MiB, are spilled to temporary files
    /// unless that is not allowed: then they fail with `.tooLarge`. Options of the database, and ``maxMemory(_:)``,
    /// set other limits.
    ///
    /// - Parameter allowed: Whether temporary files may be used.
    public func diskUse(_ allowed: Bool) -> Self {
        hinted("$allowDiskUse", .bool(allowed))
    }

    /// The same documents with another limit of the memory of a sort, and of groups, before they use temporary files.
    ///
    /// - Parameter bytes: At least 65,536.
    public func maxMemory(_ bytes: Int) -> Self {
        hinted("$maxMemory", .int64(Int64(bytes)))
    }

    /// The same documents decoded as another type, such as for the included fields.
    ///
    /// - Parameter type: What documents are decoded as.
    public func decoded<Other: Codable & Sendable>(as type: Other.Type) -> Database.Query<Other> {
        using(.codable(like: codec))
    }

    /// The same documents with another way to handle those that cannot be decoded.
    ///
    /// - Parameter policy: What happens to them; that of the collection unless this is called.
    public func decoding(_ policy: Database.DecodingPolicy) -> Self {
        var query = self
        query.codec.policy = policy
        return query
    }

    private func hinted(_ hint: String, _ value: BSONValue) -> Self {
        var query = self
        query.hints[hint] = value
        return query
    }
}
