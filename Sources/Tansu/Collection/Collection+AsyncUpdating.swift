// The twins of Collection+Updating.swift; what is said there holds here.
extension Database.Collection {
    /// Updates the documents that match, in one commit. The empty query matches all.
    ///
    /// - Parameters:
    ///   - query: Which documents.
    ///   - operations: What happens to each: operators, or a whole document for the one match.
    ///   - hints: How.
    /// - Returns: How many documents matched and changed, and which were inserted.
    /// - Throws: As the form that is not async, and `CancellationError`.
    @discardableResult
    public func update(
        _ query: BSONDocument, _ operations: BSONDocument, hints: BSONDocument = [:]
    ) async throws -> Database.UpdateResult {
        try await session.suspendStoppable(.write) { try self.moved(to: $0).update(query, operations, hints: hints) }
    }

    /// Updates the first document that matches, and returns it, in one commit.
    ///
    /// - Parameters:
    ///   - query: Which documents.
    ///   - operations: What happens to the first of them.
    ///   - hints: How: `$orderby` says what is first, and `$fields` what of it comes back.
    ///   - returned: Whether the document comes back as it was, or as it is now.
    /// - Returns: The document; `nil` when nothing matched, or when an upsert was asked for what was before.
    /// - Throws: As the form that is not async, and `CancellationError`.
    @discardableResult
    public func findAndUpdate(
        _ query: BSONDocument, _ operations: BSONDocument, hints: BSONDocument = [:],
        returning returned: Database.ReturnedDocument = .before
    ) async throws -> Element? {
        try await findAndModify(query, .update(operations, returning: returned), hints)
    }

    /// Removes the first document that matches, and returns it, in one commit.
    ///
    /// - Parameters:
    ///   - query: Which documents.
    ///   - hints: How: `$orderby` says what is first, and `$fields` what of it comes back.
    /// - Returns: The document as it was; `nil` when nothing matched.
    /// - Throws: As the form that is not async, and `CancellationError`.
    @discardableResult
    public func findAndRemove(_ query: BSONDocument, hints: BSONDocument = [:]) async throws -> Element? {
        try await findAndModify(query, .remove, hints)
    }

    /// Decodes when the commit is done: what cannot be decoded is changed all the same, as in the forms that are
    /// not async.
    private func findAndModify(
        _ query: BSONDocument, _ mode: ModifyMode, _ hints: BSONDocument
    ) async throws -> Element? {
        try await session.suspend(.write) { flag in
            let document = try session.stoppable(.write, flag) { session in
                try session.findAndModify(query, mode, hints, in: name)
            }
            return try document?.withUnsafeBytes(codec.decode)
        }
    }
}
