extension Database.Collection {
    /// Makes many changes, in their order, in one commit, and tells what came of each.
    ///
    /// For example:
    ///
    /// ```swift
    /// let outcomes = try people.bulk([.insert(mike), .remove(["age": ["$gt": 120]]), .removeID(7)])
    /// for (number, outcome) in outcomes.enumerated() {
    ///     if let error = outcome.error { print("change \(number):", error) }
    /// }
    /// ```
    ///
    /// A change that fails leaves no trace; what becomes of the others is the policy's matter. An error that is not
    /// about the change but about the database, such as a full disk, is thrown, and then nothing is kept.
    ///
    /// - Parameters:
    ///   - operations: The changes.
    ///   - policy: What to do about one that fails.
    /// - Returns: What came of each change, in their order.
    /// - Throws: With `.allOrNothing` the first change's error; ``TansuError`` with what a commit can throw.
    @discardableResult
    public func bulk(
        _ operations: [Database.BulkOperation<Element>], policy: Database.BulkPolicy = .skipFailures
    ) throws -> [Database.BulkOutcome] {
        try session.writing { session in
            let collection = moved(to: session)
            var outcomes: [Database.BulkOutcome] = []
            outcomes.reserveCapacity(operations.count)
            for operation in operations {
                do {
                    outcomes.append(try collection.perform(operation))
                } catch {
                    guard policy != .allOrNothing, error.isAboutOneDocument else { throw error }
                    outcomes.append(.failed(error))
                    if policy == .stopAtFailure { break }
                }
            }
            outcomes += repeatElement(.skipped, count: operations.count - outcomes.count)
            return outcomes
        }
    }

    /// Makes many changes, in their order, in one commit, and tells what came of each.
    ///
    /// - Parameters:
    ///   - operations: The changes.
    ///   - policy: What to do about one that fails.
    /// - Returns: What came of each change, in their order.
    /// - Throws: As the form that is not async, and `CancellationError`.
    @discardableResult
    public func bulk(
        _ operations: [Database.BulkOperation<Element>], policy: Database.BulkPolicy = .skipFailures
    ) async throws -> [Database.BulkOutcome] {
        try await session.suspendStoppable(.write) { try self.moved(to: $0).bulk(operations, policy: policy) }
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

extension Error {
    /// Whether another document or query may well do better: the database itself is in order.
    fileprivate var isAboutOneDocument: Bool {
        guard let error = self as? TansuError else { return !(self is CancellationError) }
        return switch error.code {
        case .exists, .notFound, .notUnique, .invalidBSON, .invalidDocument, .invalidID, .invalidQuery, .tooLarge: true
        default: false
        }
    }
}
