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
        query.names += other.names
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
        // To the engine, 0 is no limit.
        if count == 0 { query.filter = ["_id": ["$in": []]] }
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
