extension Database.Collection {
    /// Updates the documents that match or, when there is none, inserts one from the query and the operations.
    ///
    /// For example:
    ///
    /// ```swift
    /// try visits.upsert(["page": "/home"], ["$inc": ["count": 1], "$setOnInsert": ["since": 2026]])
    /// ```
    ///
    /// - Parameters:
    ///   - query: Which documents; its equality conditions are in the inserted document.
    ///   - operations: The update, as for `update`.
    ///   - hints: Options.
    /// - Returns: How many documents matched and changed, and which was inserted.
    /// - Throws: As `update`.
    @discardableResult
    public func upsert(
        _ query: BSONDocument, _ operations: BSONDocument, hints: BSONDocument = [:]
    ) throws -> Database.UpdateResult {
        try update(query, operations, hints: hints.upserting)
    }

    /// Updates the documents that match or, when there is none, inserts one from the query and the operations.
    ///
    /// - Parameters:
    ///   - query: Which documents; its equality conditions are in the inserted document.
    ///   - operations: The update, as for `update`.
    ///   - hints: Options.
    /// - Returns: How many documents matched and changed, and which was inserted.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func upsert(
        _ query: BSONDocument, _ operations: BSONDocument, hints: BSONDocument = [:]
    ) async throws -> Database.UpdateResult {
        try await update(query, operations, hints: hints.upserting)
    }
}

extension BSONDocument {
    fileprivate var upserting: BSONDocument {
        var hints = self
        hints["$upsert"] = true
        return hints
    }
}
