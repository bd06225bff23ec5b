// The async variants of Collection+Updating.swift.
extension Database.Collection {
    /// Updates the documents that match, in one commit. The empty query matches all.
    ///
    /// - Parameters:
    ///   - query: Which documents.
    ///   - operations: Operators for each document, or a whole document for the one match.
    ///   - hints: Options.
    /// - Returns: How many documents matched and changed, and which were inserted.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func update(
        _ query: BSONDocument, _ operations: BSONDocument, hints: BSONDocument = [:]
    ) async throws -> Database.UpdateResult {
        try await session.runCancellable(.write) { try self.using($0).update(query, operations, hints: hints) }
    }

    /// Updates the first document that matches, and returns it, in one commit.
    ///
    /// - Parameters:
    ///   - query: Which documents.
    ///   - operations: The update of the first of them.
    ///   - hints: Options: `$orderby` determines the first document, and `$fields` the returned fields.
    ///   - returned: Which version of the document to return.
    /// - Returns: The document; `nil` when nothing matched, or when an upsert inserted and `.before` was requested.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func findAndUpdate(
        _ query: BSONDocument, _ operations: BSONDocument, hints: BSONDocument = [:],
        returning returned: Database.ReturnedDocument = .before
    ) async throws -> Element? {
        try await findAndModify(query, .update(operations, returnsNew: returned == .after), hints)
    }

    /// Removes the first document that matches, and returns it, in one commit.
    ///
    /// - Parameters:
    ///   - query: Which documents.
    ///   - hints: Options: `$orderby` determines the first document, and `$fields` the returned fields.
    /// - Returns: The document as it was; `nil` when nothing matched.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func findAndRemove(_ query: BSONDocument, hints: BSONDocument = [:]) async throws -> Element? {
        try await findAndModify(query, .remove, hints)
    }

    /// Decodes after the commit: a document that cannot be decoded is still changed, as in the synchronous variants.
    private func findAndModify(
        _ query: BSONDocument, _ mode: ModifyMode, _ hints: BSONDocument
    ) async throws -> Element? {
        try await session.run(.write) { flag in
            let document = try session.cancellable(.write, flag) { session in
                try findAndModify(query, mode, hints, in: session)
            }
            return try document?.withUnsafeBytes(codec.decode)
        }
    }
}
