extension Database.Collection {
    /// Changes properties of the documents that match a condition, in one commit.
    ///
    /// For example:
    ///
    /// ```swift
    /// try tasks.update(where: { $0.status == .open && $0.tries > 3 }) {
    ///     $0.set(\.status, .failed)
    ///     $0.increment(\.failures)
    /// }
    /// ```
    ///
    /// The engine changes the stored documents without decoding them; fields that the type does not declare stay.
    ///
    /// - Parameters:
    ///   - condition: Which documents.
    ///   - changes: What to change in each. It runs once, to build the update.
    /// - Returns: How many documents matched and changed.
    /// - Throws: As `find(_:)` and `update(_:_:hints:)`, and what the closures throw; ``TansuError`` with `.invalidQuery` also when
    ///   the type of a property does not hold what is computed, and nothing is changed then.
    @discardableResult
    public func update(
        where condition: (Database.Field<Element>) -> Database.Condition,
        _ changes: (inout Database.Update<Element>) throws -> Void
    ) throws -> Database.UpdateResult {
        try update(find(condition), changes)
    }

    /// Changes properties of the documents of a query, in one commit. Its sort order, skip and limit hold.
    ///
    /// - Parameters:
    ///   - query: Which documents of this collection.
    ///   - changes: What to change in each. It runs once, to build the update.
    /// - Returns: How many documents matched and changed.
    /// - Throws: As `update(where:_:)`, and ``TansuError`` with `.invalidArgument`: the query is of another collection.
    @discardableResult
    public func update(
        _ query: Database.Query<Element>, _ changes: (inout Database.Update<Element>) throws -> Void
    ) throws -> Database.UpdateResult {
        let (filter, hints) = try written(query)
        return try apply(operations(changes), filter, hints, in: session)
    }

    /// Removes the documents that match a condition, in one commit.
    ///
    /// For example: `try people.remove { $0.age < 13 }`.
    ///
    /// - Parameter condition: Which documents.
    /// - Returns: How many were removed.
    /// - Throws: As `find(_:)` and `remove(_:hints:)`.
    @discardableResult
    public func remove(where condition: (Database.Field<Element>) -> Database.Condition) throws -> Int {
        try remove(find(condition))
    }

    /// Removes the documents of a query, in one commit. Its sort order, skip and limit hold.
    ///
    /// For example, the ten oldest: `try log.remove(log.find().sorted(by: \.time).limit(10))`.
    ///
    /// - Parameter query: Which documents of this collection.
    /// - Returns: How many were removed.
    /// - Throws: As `remove(_:hints:)`, and ``TansuError`` with `.invalidArgument`: the query is of another collection.
    @discardableResult
    public func remove(_ query: Database.Query<Element>) throws -> Int {
        let (filter, hints) = try written(query)
        return try session.remove(filter, hints, from: name)
    }

    /// The operators of an update.
    func operations(_ changes: (inout Database.Update<Element>) throws -> Void) throws -> UpdateOperations {
        let names = scope
        return try names.coding {
            var update = Database.Update<Element>(names)
            try changes(&update)
            return try update.document()
        }
    }

    /// Runs the operators of an update on the documents that match a query as it is stored.
    func apply(
        _ operations: UpdateOperations, _ filter: BSONDocument, _ hints: BSONDocument = [:], in session: Session
    ) throws -> Database.UpdateResult {
        guard !operations.isUniform else {
            return Database.UpdateResult(try session.update(filter, operations.always, hints, in: name))
        }
        return try session.inTransaction { session in
            var (filter, hints) = (filter, hints)
            if ["$max", "$limit", "$skip"].contains(where: { hints[$0] != nil }) {
                hints["$fields"] = ["_id": 1]
                var ids: [BSONValue] = []
                try session.engine.forEach(filter, hints: hints, in: name) { document in
                    if let id = document["_id"] { ids.append(id) }
                }
                filter = ["_id": ["$in": BSONValue(ids)]]
                for hint in ["$max", "$limit", "$skip", "$fields", "$orderby"] { hints[hint] = nil }
            }
            try checkLimits(operations, filter, in: session)
            let active = try operations.switches.filter { item in
                try item.unusual.map { try matches(filter.joined(with: [$0]), in: session) } ?? true
            }
            guard active.count <= UpdateOperations.mostSwitches else {
                throw UpdateOperations.tooManySwitches(name)
            }
            var (matched, modified) = (0, 0)
            for (conditions, operations) in operations.combinations(of: active) {
                let all = filter.joined(with: conditions)
                if operations.isEmpty {
                    matched += try session.engine.count(all, [:], in: name)
                } else {
                    let result = Database.UpdateResult(try session.update(all, operations, hints, in: name))
                    matched += result.matched
                    modified += result.modified
                }
            }
            return Database.UpdateResult(matched: matched, modified: modified)
        }
    }

    /// Checks that the type of each property holds what is computed.
    ///
    /// - Throws: ``TansuError`` with `.invalidQuery`.
    private func checkLimits(
        _ operations: UpdateOperations, _ filter: BSONDocument, in session: Session
    ) throws {
        for (change, condition) in operations.limits
        where try matches(filter.joined(with: [condition]), in: session) {
            throw TansuError(
                .invalidQuery,
                "The result of \"\(change.name)\" is too large for \(change.limits?.type ?? "its type"), so that the document could"
                    + " not be decoded; use a wider type, or leave out such documents by a condition",
                context: change.path)
        }
    }

    private func matches(_ query: BSONDocument, in session: Session) throws -> Bool {
        try session.engine.count(query, ["$max": 1], in: name) > 0
    }

    /// What a write needs to know of a query: not the fields that would be read.
    private func written(_ query: Database.Query<Element>) throws -> (filter: BSONDocument, hints: BSONDocument) {
        guard query.collection == name, query.session.database === session.database else {
            throw TansuError(
                .invalidArgument, "The query is of another collection; make it with the collection that is written",
                context: query.collection)
        }
        try query.checkOrder()
        var (filter, hints) = (query.filter, query.hints)
        filter["$do"] = nil
        for hint in ["$do", "$fields"] { hints[hint] = nil }
        return (filter, hints)
    }
}

// The async variants.
extension Database.Collection {
    /// Changes properties of the documents that match a condition, in one commit.
    ///
    /// - Parameters:
    ///   - condition: Which documents.
    ///   - changes: What to change in each.
    ///   - isolation: The actor on which the closures run: the caller's.
    /// - Returns: How many documents matched and changed.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func update(
        where condition: (Database.Field<Element>) -> Database.Condition,
        _ changes: (inout Database.Update<Element>) throws -> Void, isolation: isolated (any Actor)? = #isolation
    ) async throws -> Database.UpdateResult {
        try await update(find(condition), changes)
    }

    /// Changes properties of the documents of a query, in one commit. Its sort order, skip and limit hold.
    ///
    /// - Parameters:
    ///   - query: Which documents of this collection.
    ///   - changes: What to change in each.
    ///   - isolation: The actor on which the closures run: the caller's.
    /// - Returns: How many documents matched and changed.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func update(
        _ query: Database.Query<Element>, _ changes: (inout Database.Update<Element>) throws -> Void,
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> Database.UpdateResult {
        let (filter, hints) = try written(query)
        let operations = try operations(changes)
        return try await session.runCancellable(.write) { try self.apply(operations, filter, hints, in: $0) }
    }

    /// Removes the documents that match a condition, in one commit.
    ///
    /// - Parameters:
    ///   - condition: Which documents.
    ///   - isolation: The actor on which the closure runs: the caller's.
    /// - Returns: How many were removed.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func remove(
        where condition: (Database.Field<Element>) -> Database.Condition, isolation: isolated (any Actor)? = #isolation
    ) async throws -> Int {
        try await remove(find(condition))
    }

    /// Removes the documents of a query, in one commit. Its sort order, skip and limit hold.
    ///
    /// - Parameter query: Which documents of this collection.
    /// - Returns: How many were removed.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func remove(_ query: Database.Query<Element>) async throws -> Int {
        let (filter, hints) = try written(query)
        return try await session.runCancellable(.write) { [name] in try $0.remove(filter, hints, from: name) }
    }
}

extension BSONDocument {
    /// A query for documents that match this one and others.
    fileprivate func joined(with others: [BSONDocument]) -> BSONDocument {
        let all = ([self] + others).filter { !$0.isEmpty }
        return all.count <= 1 ? all.first ?? [:] : ["$and": BSONValue(all.map { .document($0) })]
    }
}

// MARK: - Typed upserting

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
