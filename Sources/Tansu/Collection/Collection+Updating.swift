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
    /// The matching documents are determined before the first change. On an error the update is rolled back.
    ///
    /// - Parameters:
    ///   - query: Which documents.
    ///   - operations: Operators such as `$inc` for each document. Field names are the stored ones: `_id`, not `id`.
    ///     A document without operators is an error; a whole document is stored by `replace(_:with:)`.
    ///   - hints: Options, such as `["$upsert": true]`, `["$orderby": ["age": -1], "$max": 10]` or `$arrayFilters`.
    /// - Returns: How many documents matched and changed, and which were inserted.
    /// - Throws: ``TansuError`` with `.invalidQuery` (the context names operator and path; also an operator that does
    ///   not apply to a document), `.invalidID` (it would change an `_id`, or insert an ObjectId that the type cannot
    ///   read), `.invalidDocument`, `.tooLarge`,
    ///   `.notUnique`, `.exists` (an upsert with an `_id` that exists), `.invalidName`, or what a commit can throw.
    @discardableResult
    public func update(
        _ query: BSONDocument, _ operations: BSONDocument, hints: BSONDocument = [:]
    ) throws -> Database.UpdateResult {
        let (query, hints) = try stored(query, hints)
        let operations = try stored(operations: operations)
        return try insertingReadable(query, hints) { collection in
            Database.UpdateResult(try collection.session.update(query, operations, hints, in: name))
        }
    }

    /// Runs an update, and takes it back where what it inserts has an ObjectId that the type cannot read.
    ///
    /// - Parameters:
    ///   - query: The query and its hints, which say whether it may insert.
    ///   - update: The update, in the collection of a transaction.
    private func insertingReadable(
        _ query: BSONDocument, _ hints: BSONDocument, _ update: (Self) throws -> Database.UpdateResult
    ) throws -> Database.UpdateResult {
        guard isUpsert(query, hints) else { return try update(self) }
        return try session.inTransaction { session in
            let result = try update(using(session))
            for case .objectID(let id) in result.upserted {
                guard let inserted = try session.engine.document(.objectID(id), in: name) else { continue }
                try inserted.withUnsafeBytes { try GeneratedID.check(inserted: $0, codec) }
            }
            return result
        }
    }

    /// Replaces the document that matches by another one, which gets its `_id`, in one commit.
    ///
    /// For example:
    ///
    /// ```swift
    /// try people.replace(["name": "mike"], with: ["name": "mike", "age": 13], hints: ["$upsert": true])
    /// ```
    ///
    /// - Parameters:
    ///   - query: Which document. When several match, it is an error; `["$max": 1]` takes the first.
    ///   - document: The whole document. Its `_id`, if it has one, must be that of the match.
    ///   - hints: Options, as for `update`.
    /// - Returns: How many documents matched and were replaced, and which was inserted.
    /// - Throws: As `update`.
    @discardableResult
    public func replace(
        _ query: BSONDocument, with document: BSONDocument, hints: BSONDocument = [:]
    ) throws -> Database.UpdateResult {
        try update(query, ["$replace": .document(document)], hints: hints)
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
    ///   - operations: The update of the first of them, as for `update`.
    ///   - hints: Options: those of `update`, of which `$orderby` determines the first document, and `$fields` the
    ///     returned fields.
    ///   - returned: Which version of the document to return.
    /// - Returns: The document; `nil` when nothing matched, or when an upsert inserted and `.before` was requested.
    /// - Throws: As `update`; `DecodingError`, after which the update is still committed.
    @discardableResult
    public func findAndUpdate(
        _ query: BSONDocument, _ operations: BSONDocument, hints: BSONDocument = [:],
        returning returned: Database.ReturnedDocument = .before
    ) throws -> Element? {
        try findAndModify(query, .update(operations, returnsNew: returned == .after), hints, in: session)?
            .withUnsafeBytes(codec.decode)
    }

    /// Removes the first document that matches, and returns it, in one commit.
    ///
    /// - Parameters:
    ///   - query: Which documents.
    ///   - hints: Options: `$orderby` determines the first document, and `$fields` the returned fields.
    /// - Returns: The document as it was; `nil` when nothing matched.
    /// - Throws: ``TansuError`` with `.invalidQuery`, or what a commit can throw; `DecodingError`, after
    ///   which the document is still removed.
    @discardableResult
    public func findAndRemove(_ query: BSONDocument, hints: BSONDocument = [:]) throws -> Element? {
        try findAndModify(query, .remove, hints, in: session)?.withUnsafeBytes(codec.decode)
    }

    /// The bytes of the document that was updated or removed.
    func findAndModify(
        _ query: BSONDocument, _ mode: ModifyMode, _ hints: BSONDocument, in session: Session
    ) throws -> [UInt8]? {
        let (query, hints) = try stored(query, hints)
        var mode = mode
        if case .update(let operations, let returnsNew) = mode {
            mode = .update(try stored(operations: operations), returnsNew: returnsNew)
        }
        guard case .update(let operations, let returnsNew) = mode, isUpsert(query, hints) else {
            return try session.findAndModify(query, mode, hints, in: name)
        }
        return try session.inTransaction { session in
            var (known, limits, own) = (query, hints, hints)
            known["$upsert"] = nil
            limits["$upsert"] = nil
            if let found = try session.findAndModify(known, mode, limits, in: name) { return found }
            // What is inserted is known by its _id only from an update.
            let fields = own.removeValue(forKey: "$fields")
            let result = try using(session).insertingReadable(query, own) { collection in
                Database.UpdateResult(try collection.session.update(query, operations, own, in: name))
            }
            guard returnsNew, let id = result.upserted.first else { return nil }
            let shown: BSONDocument = fields.map { ["$fields": $0] } ?? [:]
            return try session.engine.withCursor(["_id": ["$eq": id]], shown, in: name) { try $0.next { Array($0) } }
        }
    }

    /// Whether an update may insert a document that the type has to read.
    private func isUpsert(_ query: BSONDocument, _ hints: BSONDocument) -> Bool {
        Element.self != BSONDocument.self && (hints["$upsert"] != nil || query["$upsert"] != nil)
    }
}
