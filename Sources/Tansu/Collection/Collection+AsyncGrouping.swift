// The twins of Collection+Grouping.swift; what is said there holds here.
extension Database.Collection {
    /// The different values that a path has in the documents that match, an array by its elements.
    ///
    /// - Parameters:
    ///   - path: The dotted path.
    ///   - query: Which documents; all when empty.
    ///   - hints: How; `$skip` and `$max` apply to the values. With `$explain` it is the plan.
    /// - Returns: The values in their order, the least first.
    /// - Throws: As the form that is not async, and `CancellationError`.
    public func distinct(
        _ path: String, _ query: BSONDocument = [:], hints: BSONDocument = [:]
    ) async throws -> [BSONValue] {
        try await session.suspendStoppable(.read) { try self.moved(to: $0).distinct(path, query, hints: hints) }
    }

    /// Figures about groups of the documents that match.
    ///
    /// - Parameters:
    ///   - query: Which documents; all when empty.
    ///   - group: `by`, what they are grouped by, and `fields`, the figures.
    ///   - hints: How; `$orderby`, `$skip` and `$max` apply to the groups. With `$explain` it is the plan.
    /// - Returns: A document for each group, in the order of what they are grouped by.
    /// - Throws: As the form that is not async, and `CancellationError`.
    public func aggregate(
        _ query: BSONDocument = [:], group: BSONDocument, hints: BSONDocument = [:]
    ) async throws -> [BSONDocument] {
        try await session.suspendStoppable(.read) {
            try self.moved(to: $0).aggregate(query, group: group, hints: hints)
        }
    }
}
