extension Database {
    /// An operation of a `bulk`.
    public enum BulkOperation<Element: Sendable>: Sendable {
        /// Inserts the document, or replaces the one with the same `_id`.
        case save(Element)

        /// Inserts a document whose `_id` must not exist.
        case insert(Element)

        /// Replaces the document with the same `_id`, which must exist.
        case replace(Element)

        /// Updates the documents that match.
        case update(BSONDocument, BSONDocument, hints: BSONDocument = [:])

        /// Updates the documents that match, or inserts one.
        case upsert(BSONDocument, BSONDocument, hints: BSONDocument = [:])

        /// Removes the documents that match.
        case remove(BSONDocument, hints: BSONDocument = [:])

        /// Removes the document with that `_id`.
        case removeID(any DocumentID)
    }

    /// The outcome of an operation of a `bulk`.
    public enum BulkOutcome: Sendable {
        /// The document is saved, inserted or replaced; its `_id`.
        case saved(BSONValue)

        /// The result of the update.
        case updated(UpdateResult)

        /// How many documents were removed.
        case removed(Int)

        /// The operation failed with this error and was rolled back.
        case failed(any Error)

        /// It was not run, because an earlier one failed.
        case skipped

        /// The error, when it failed.
        public var error: (any Error)? {
            if case .failed(let error) = self { error } else { nil }
        }
    }

    /// What a `bulk` does when an operation fails.
    public enum BulkPolicy: Sendable, Hashable, CaseIterable {
        /// Everything is rolled back, and the error is thrown.
        case allOrNothing

        /// The operations before it are kept; those after it are not run.
        case stopAtFailure

        /// All others are run and kept.
        case skipFailures
    }
}

// MARK: - Bulk

extension Database.Collection {
    /// Runs many operations in their order in one commit, and returns the outcome of each.
    ///
    /// For example:
    ///
    /// ```swift
    /// let outcomes = try people.bulk([.insert(mike), .remove(["age": ["$gt": 120]]), .removeID(7)])
    /// for (number, outcome) in outcomes.enumerated() {
    ///     if let error = outcome.error { print("operation \(number):", error) }
    /// }
    /// ```
    ///
    /// An operation that fails is rolled back; the policy determines what happens to the others. An error of the
    /// database rather than of the operation, such as a full disk, is thrown, and everything is rolled back.
    ///
    /// - Parameters:
    ///   - operations: The operations.
    ///   - policy: What to do when one fails.
    /// - Returns: The outcome of each operation, in their order.
    /// - Throws: With `.allOrNothing` the error of the first operation that fails; its message has the number and the
    ///   `_id` of the operation, and its ``TansuError/offset`` is the number, counted from 0. ``TansuError`` with what a
    ///   commit can throw.
    @discardableResult
    public func bulk(
        _ operations: [Database.BulkOperation<Element>], policy: Database.BulkPolicy = .skipFailures
    ) throws -> [Database.BulkOutcome] {
        try session.inTransaction { session in
            let collection = using(session)
            var outcomes: [Database.BulkOutcome] = []
            outcomes.reserveCapacity(operations.count)
            for (number, operation) in operations.enumerated() {
                do {
                    outcomes.append(try collection.perform(operation))
                } catch {
                    let named = error.named("operation \(number) (\(collection.name(of: operation)))", number)
                    guard policy != .allOrNothing, error.isAboutOneDocument else { throw named }
                    outcomes.append(.failed(named))
                    if policy == .stopAtFailure { break }
                }
            }
            outcomes += repeatElement(.skipped, count: operations.count - outcomes.count)
            return outcomes
        }
    }

    /// Runs many operations in their order in one commit, and returns the outcome of each.
    ///
    /// - Parameters:
    ///   - operations: The operations.
    ///   - policy: What to do when one fails.
    /// - Returns: The outcome of each operation, in their order.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func bulk(
        _ operations: [Database.BulkOperation<Element>], policy: Database.BulkPolicy = .skipFailures
    ) async throws -> [Database.BulkOutcome] {
        try await session.runCancellable(.write) { try self.using($0).bulk(operations, policy: policy) }
    }

    private func perform(_ operation: Database.BulkOperation<Element>) throws -> Database.BulkOutcome {
        switch operation {
        case .save(let element): .saved(try save(element))
        case .insert(let element): .saved(try insert(element))
        case .replace(let element): .saved(try replace(element))
        case .update(let query, let operations, let hints):
            .updated(try update(query, operations, hints: hints))
        case .upsert(let query, let operations, let hints):
            .updated(try upsert(query, operations, hints: hints))
        case .remove(let query, let hints): .removed(try remove(query, hints: hints))
        case .removeID(let id): .removed(try remove(id: id) ? 1 : 0)
        }
    }
}

extension Database.Collection {
    /// What an operation does, for an error.
    fileprivate func name(of operation: Database.BulkOperation<Element>) -> String {
        switch operation {
        case .save(let element): "save\(id(of: element))"
        case .insert(let element): "insert\(id(of: element))"
        case .replace(let element): "replace\(id(of: element))"
        case .update(let query, _, _): "update of \(BSONValue.document(query).short)"
        case .upsert(let query, _, _): "upsert of \(BSONValue.document(query).short)"
        case .remove(let query, _): "remove of \(BSONValue.document(query).short)"
        case .removeID(let id): "remove of _id \(stored(id).short)"
        }
    }

    private func id(of element: Element) -> String {
        // A value that cannot be encoded has none; that is then the error.
        (try? codec.document(of: element))?["_id"].map { " of _id \($0.short)" } ?? ""
    }
}

extension BSONValue {
    /// The value for a message, truncated.
    fileprivate var short: String {
        let text = description
        return text.count > 80 ? text.prefix(80) + "…" : text
    }
}

extension Error {
    /// The error with the operation in its text.
    fileprivate func named(_ operation: String, _ number: Int) -> any Error {
        if let error = self as? TansuError {
            var named = TansuError(
                error.code, "In \(operation) of the bulk: \(error.message)", context: error.context,
                offset: Int64(number), systemErrno: error.systemErrno)
            named.report = error.report
            return named
        }
        guard case EncodingError.invalidValue(let value, let context)? = self as? EncodingError else { return self }
        return EncodingError.invalidValue(
            safeValue(value),
            EncodingError.Context(
                codingPath: context.codingPath,
                debugDescription: "In \(operation) of the bulk: \(context.debugDescription)",
                underlyingError: context.underlyingError))
    }

    /// Whether the error is of the document or query, not of the database.
    fileprivate var isAboutOneDocument: Bool {
        guard let error = self as? TansuError else { return !(self is CancellationError) }
        return switch error.code {
        case .exists, .notFound, .notUnique, .invalidBSON, .invalidDocument, .invalidID, .invalidQuery, .tooLarge: true
        default: false
        }
    }
}
