extension Database.Collection {
    /// Changes properties of the documents that match a condition or, when there is none, inserts a value, in one commit.
    ///
    /// For example:
    ///
    /// ```swift
    /// try visits.upsert(where: { $0.page == "/" }, inserting: Visit(page: "/", count: 1)) { $0.increment(\.count) }
    /// ```
    ///
    /// - Parameters:
    ///   - condition: Which documents.
    ///   - element: What is inserted when none matches, unchanged.
    ///   - changes: What to change in each document that matches.
    /// - Returns: How many documents matched and changed, and the `_id` of the one that was inserted.
    /// - Throws: As `update(where:_:)` and `insert(_:)`.
    @discardableResult
    public func upsert(
        where condition: (Database.Field<Element>) -> Database.Condition, inserting element: @autoclosure () -> Element,
        _ changes: (inout Database.Update<Element>) throws -> Void
    ) throws -> Database.UpdateResult {
        let (filter, operations) = try (find(condition).filter, operations(changes))
        return try session.inTransaction { session in
            let collection = using(session)
            let result = try collection.apply(operations, filter, in: session)
            guard result.matched == 0 else { return result }
            return Database.UpdateResult(upserted: try collection.insert(element()))
        }
    }

    /// Changes properties of the documents that match a condition or, when there is none, inserts a document made of the
    /// equalities in the condition and of the changes, in one commit.
    ///
    /// For example:
    ///
    /// ```swift
    /// try visits.upsert(where: { $0.page == "/" }) {
    ///     $0.increment(\.count)
    ///     $0.setOnInsert(\.since, .now)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - condition: Which documents.
    ///   - changes: What to change in each document that matches, and in the one that is inserted.
    /// - Returns: How many documents matched and changed, and the `_id` of the one that was inserted.
    /// - Throws: As `update(where:_:)`; `DecodingError` when the inserted document lacks a property that the type needs,
    ///   and nothing is inserted then.
    @discardableResult
    public func upsert(
        where condition: (Database.Field<Element>) -> Database.Condition,
        _ changes: (inout Database.Update<Element>) throws -> Void
    ) throws -> Database.UpdateResult {
        let (filter, operations) = try (find(condition).filter, operations(changes))
        return try session.inTransaction { try self.using($0).upsertDecodable(filter, operations) }
    }

    /// Changes properties of the documents that match a condition or, when there is none, inserts a value, in one commit.
    ///
    /// - Parameters:
    ///   - condition: Which documents.
    ///   - element: What is inserted when none matches, unchanged.
    ///   - changes: What to change in each document that matches.
    ///   - isolation: The actor on which the closures run: the caller's.
    /// - Returns: How many documents matched and changed, and the `_id` of the one that was inserted.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func upsert(
        where condition: (Database.Field<Element>) -> Database.Condition, inserting element: Element,
        _ changes: (inout Database.Update<Element>) throws -> Void, isolation: isolated (any Actor)? = #isolation
    ) async throws -> Database.UpdateResult {
        let (filter, operations) = try (find(condition).filter, operations(changes))
        return try await session.runCancellable(.write) { session in
            try session.inTransaction { session in
                let collection = self.using(session)
                let result = try collection.apply(operations, filter, in: session)
                guard result.matched == 0 else { return result }
                return Database.UpdateResult(upserted: try collection.insert(element))
            }
        }
    }

    /// Changes properties of the documents that match a condition or, when there is none, inserts a document made of the
    /// equalities in the condition and of the changes, in one commit.
    ///
    /// - Parameters:
    ///   - condition: Which documents.
    ///   - changes: What to change in each document that matches, and in the one that is inserted.
    ///   - isolation: The actor on which the closures run: the caller's.
    /// - Returns: How many documents matched and changed, and the `_id` of the one that was inserted.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func upsert(
        where condition: (Database.Field<Element>) -> Database.Condition,
        _ changes: (inout Database.Update<Element>) throws -> Void, isolation: isolated (any Actor)? = #isolation
    ) async throws -> Database.UpdateResult {
        let (filter, operations) = try (find(condition).filter, operations(changes))
        return try await session.runCancellable(.write) { session in
            try session.inTransaction { try self.using($0).upsertDecodable(filter, operations) }
        }
    }

    /// In a transaction, which is rolled back when the inserted document cannot be decoded.
    private func upsertDecodable(
        _ filter: BSONDocument, _ operations: UpdateOperations
    ) throws -> Database.UpdateResult {
        let inserted = codec.strategies.withoutForms(filter)
        if !operations.isUniform || inserted != filter {
            let result = try apply(operations, filter, in: session)
            guard result.matched == 0 else { return result }
        }
        // What is nil in the document that is inserted stays nil.
        let result = Database.UpdateResult(
            try session.update(inserted, operations.inserted, ["$upsert": true], in: name))
        for id in result.upserted { _ = try find(stored: ["_id": ["$eq": id]]).decoding(.strict).first() }
        return result
    }
}
