extension Database.Collection {
    /// Updates the documents that match, in one commit. The empty query matches all.
    ///
    /// For example:
    ///
    /// ```swift
    /// try people.update(["age": ["$lt": 18]], ["$inc": ["visits": 1], "$addToSet": ["tags": "young"]])
    /// try people.update(["name": "mike"], ["$set": ["age": 13]], hints: ["$upsert": true])
    /// ```
    ///
    /// What matches is fixed before the first change. On an error nothing of the update is kept.
    ///
    /// - Parameters:
    ///   - query: Which documents.
    ///   - operations: What happens to each: operators such as `$inc`, by their paths; or a whole document to take
    ///     the place of the match, which must then be one. Names of fields are those that are stored: `_id`, not `id`.
    ///   - hints: How, such as `["$upsert": true]`, `["$orderby": ["age": -1], "$max": 10]` or `$arrayFilters`.
    /// - Returns: How many documents matched and changed, and which were inserted.
    /// - Throws: ``TansuError`` with `.invalidQuery` (the context names operator and path; also an operator that does
    ///   not fit a document), `.invalidID` (it would change an `_id`), `.invalidDocument`, `.tooLarge`, `.notUnique`,
    ///   `.exists` (an upsert with an `_id` that is taken), `.invalidName`, or what a commit can throw.
    @discardableResult
    public func update(
        _ query: BSONDocument, _ operations: BSONDocument, hints: BSONDocument = [:]
    ) throws -> Database.UpdateResult {
        Database.UpdateResult(try session.update(query, operations, hints, in: name))
    }

    /// Updates the first document that matches, and returns it, in one commit.
    ///
    /// For example:
    ///
    /// ```swift
    /// let next = try jobs.findAndUpdate(
    ///     ["state": "waiting"], ["$set": ["state": "running"]], hints: ["$orderby": ["since": 1]], returning: .after)
    /// ```
    ///
    /// - Parameters:
    ///   - query: Which documents.
    ///   - operations: What happens to the first of them; see `update`.
    ///   - hints: How: those of `update`, of which `$orderby` says what is first, and `$fields` for what comes back.
    ///   - returned: Whether the document comes back as it was, or as it is now.
    /// - Returns: The document; `nil` when nothing matched, or when an upsert was asked for what was before.
    /// - Throws: As `update`; `DecodingError`, and then the update is kept all the same.
    @discardableResult
    public func findAndUpdate(
        _ query: BSONDocument, _ operations: BSONDocument, hints: BSONDocument = [:],
        returning returned: Database.ReturnedDocument = .before
    ) throws -> Element? {
        let mode = ModifyMode.update(operations, returning: returned)
        return try session.findAndModify(query, mode, hints, in: name)?.withUnsafeBytes(codec.decode)
    }

    /// Removes the first document that matches, and returns it, in one commit.
    ///
    /// - Parameters:
    ///   - query: Which documents.
    ///   - hints: How: `$orderby` says what is first, and `$fields` what of it comes back.
    /// - Returns: The document as it was; `nil` when nothing matched.
    /// - Throws: ``TansuError`` with `.invalidQuery`, or what a commit can throw; `DecodingError`, and then
    ///   the document is removed all the same.
    @discardableResult
    public func findAndRemove(_ query: BSONDocument, hints: BSONDocument = [:]) throws -> Element? {
        try session.findAndModify(query, .remove, hints, in: name)?.withUnsafeBytes(codec.decode)
    }
}
