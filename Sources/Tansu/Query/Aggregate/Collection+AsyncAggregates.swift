// The async variants of Collection+Aggregates.swift.
extension Database.Collection {
    /// The distinct values of a path in the documents that match; of an array, its elements.
    ///
    /// - Parameters:
    ///   - path: The dotted path.
    ///   - query: Which documents; all when empty.
    ///   - hints: Options; `$skip` and `$max` apply to the values. With `$explain` it is the plan.
    /// - Returns: The values in ascending order.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func distinct(
        _ path: String, _ query: BSONDocument = [:], hints: BSONDocument = [:]
    ) async throws -> [BSONValue] {
        try await session.runCancellable(.read) { try self.using($0).distinct(path, query, hints: hints) }
    }

    /// Aggregates of groups of the documents that match.
    ///
    /// - Parameters:
    ///   - query: Which documents; all when empty.
    ///   - group: `by`, what they are grouped by, and `fields`, the aggregates.
    ///   - hints: Options; `$orderby`, `$skip` and `$max` apply to the groups. With `$explain` it is the plan.
    /// - Returns: A document for each group, in the order of the group keys.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func aggregate(
        _ query: BSONDocument = [:], group: BSONDocument, hints: BSONDocument = [:]
    ) async throws -> [BSONDocument] {
        try await session.runCancellable(.read) {
            try self.using($0).aggregate(query, group: group, hints: hints)
        }
    }
}
