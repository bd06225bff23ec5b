extension Database.Collection {
    /// Updates the documents that match by a pipeline, which computes new values of those that each document has, in one
    /// commit.
    ///
    /// For example:
    ///
    /// ```swift
    /// try orders.update(["state": "open"], with: [.set(["total": ["$sum": "$lines.price"]]), .unset("estimate")])
    /// ```
    ///
    /// - Parameters:
    ///   - query: Which documents; the empty one matches all.
    ///   - pipeline: The stages `$set`, `$unset`, `$project`, `$replaceRoot` and `$replaceWith`.
    ///   - hints: Options, as for other updates.
    /// - Returns: How many documents matched and changed, and which were inserted.
    /// - Throws: As `update(_:_:hints:)`.
    @discardableResult
    public func update(
        _ query: BSONDocument, with pipeline: Database.Pipeline<Element>, hints: BSONDocument = [:]
    ) throws -> Database.UpdateResult {
        try update(query, try operations(pipeline), hints: hints)
    }

    /// Updates the documents that match a condition by a pipeline, which computes new values of those that each document
    /// has, in one commit.
    ///
    /// For example: `try people.update(where: { $0.age > 17 }, with: [.set(["name": ["$toUpper": "$name"]])])`.
    ///
    /// - Parameters:
    ///   - condition: Which documents.
    ///   - pipeline: The stages, as with a query document.
    /// - Returns: How many documents matched and changed.
    /// - Throws: As `find(_:)` and `update(_:_:hints:)`.
    @discardableResult
    public func update(
        where condition: (Database.Field<Element>) -> Database.Condition, with pipeline: Database.Pipeline<Element>
    ) throws -> Database.UpdateResult {
        let (filter, operations) = try (find(condition).filter, stored(operations: operations(pipeline)))
        return Database.UpdateResult(try session.update(filter, operations, [:], in: name))
    }

    /// Updates the documents that match by a pipeline, in one commit.
    ///
    /// - Parameters:
    ///   - query: Which documents; the empty one matches all.
    ///   - pipeline: The stages.
    ///   - hints: Options, as for other updates.
    /// - Returns: How many documents matched and changed, and which were inserted.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func update(
        _ query: BSONDocument, with pipeline: Database.Pipeline<Element>, hints: BSONDocument = [:]
    ) async throws -> Database.UpdateResult {
        try await update(query, try operations(pipeline), hints: hints)
    }

    /// Updates the documents that match a condition by a pipeline, in one commit.
    ///
    /// - Parameters:
    ///   - condition: Which documents.
    ///   - pipeline: The stages.
    ///   - isolation: The actor on which the closure runs: the caller's.
    /// - Returns: How many documents matched and changed.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func update(
        where condition: (Database.Field<Element>) -> Database.Condition, with pipeline: Database.Pipeline<Element>,
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> Database.UpdateResult {
        let (filter, operations) = try (find(condition).filter, stored(operations: operations(pipeline)))
        return try await session.runCancellable(.write) { [name] in
            Database.UpdateResult(try $0.update(filter, operations, [:], in: name))
        }
    }

    /// The update of a pipeline.
    private func operations(_ pipeline: Database.Pipeline<Element>) throws -> BSONDocument {
        ["$pipeline": BSONValue(try pipeline.documents(for: find()).map { .document($0) })]
    }
}
