extension Database {
    /// The result of an update.
    public struct UpdateResult: Sendable, Hashable {
        /// How many documents matched.
        public let matched: Int

        /// How many of those changed.
        public let modified: Int

        /// The `_id`s of the documents that `$upsert` inserted.
        public let upserted: [BSONValue]

        /// How many documents `$dropall` removed.
        public let removed: Int

        init(matched: Int, modified: Int) {
            self.matched = matched
            self.modified = modified
            (upserted, removed) = ([], 0)
        }

        /// Nothing matched, and a document was inserted.
        init(upserted id: BSONValue) {
            (matched, modified, upserted, removed) = (0, 0, [id], 0)
        }

        init(_ document: BSONDocument) {
            matched = document["matched"]?.intValue ?? 0
            modified = document["modified"]?.intValue ?? 0
            upserted = document["upserted"]?.arrayValue.map(Array.init) ?? []
            removed = document["removed"]?.intValue ?? 0
        }
    }

    /// Which version of an updated document is returned.
    public enum ReturnedDocument: Sendable, Hashable, CaseIterable {
        /// As it was before the update.
        case before

        /// As it is after the update.
        case after
    }
}

// MARK: - Updating

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
            let inserted: EngineCursor.Source = .query(["_id": ["$eq": id]], hints: shown, collection: name)
            return try session.engine.withCursor(inserted) { try $0.next { Array($0) } }
        }
    }

    /// Whether an update may insert a document that the type has to read.
    private func isUpsert(_ query: BSONDocument, _ hints: BSONDocument) -> Bool {
        Element.self != BSONDocument.self && (hints["$upsert"] != nil || query["$upsert"] != nil)
    }
}

// MARK: - Async updating

extension Database.Collection {
    /// Updates the documents that match, in one commit. The empty query matches all.
    ///
    /// - Parameters:
    ///   - query: Which documents.
    ///   - operations: Operators for each document.
    ///   - hints: Options.
    /// - Returns: How many documents matched and changed, and which were inserted.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func update(
        _ query: BSONDocument, _ operations: BSONDocument, hints: BSONDocument = [:]
    ) async throws -> Database.UpdateResult {
        try await session.runCancellable(.write) { try self.using($0).update(query, operations, hints: hints) }
    }

    /// Replaces the document that matches by another one, which gets its `_id`, in one commit.
    ///
    /// - Parameters:
    ///   - query: Which document. When several match, it is an error; `["$max": 1]` takes the first.
    ///   - document: The whole document.
    ///   - hints: Options.
    /// - Returns: How many documents matched and were replaced, and which was inserted.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func replace(
        _ query: BSONDocument, with document: BSONDocument, hints: BSONDocument = [:]
    ) async throws -> Database.UpdateResult {
        try await update(query, ["$replace": .document(document)], hints: hints)
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

// MARK: - Upserting

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

// MARK: - Updating by closure

extension Database.Collection {
    /// Changes one document by a closure, in one transaction: no other write commits between reading and saving it.
    ///
    /// For example:
    ///
    /// ```swift
    /// try people.update(id: mike.id) { $0.age += 1 }
    /// ```
    ///
    /// Only what the closure changed is written: fields of the document that the type does not decode stay.
    ///
    /// - Parameters:
    ///   - id: Its `_id`, which must stay the same.
    ///   - body: What to change. Its error rolls back and is rethrown. It must write to the database only
    ///     through the enclosing transaction; other writes throw `.busy`.
    /// - Returns: The value after the closure; `nil`, without a call of the closure, when there is no such document.
    /// - Throws: The closure's error; ``TansuError`` with `.invalidID` (it changed the `_id`), and as `save`;
    ///   `DecodingError`, `EncodingError`.
    @_disfavoredOverload
    @discardableResult
    public func update(id: some DocumentID, _ body: (inout Element) throws -> Void) throws -> Element? {
        try update(storedID: stored(id), body)
    }

    /// Changes the document with an id as documents hold it.
    func update(storedID id: BSONValue, _ body: (inout Element) throws -> Void) throws -> Element? {
        try session.inTransaction { session in
            guard let stored = try session.engine.document(id, in: name) else { return nil }
            return try using(session).change(stored, body).element
        }
    }

    /// Changes the documents that match by a closure, one after another, in one transaction.
    ///
    /// For example:
    ///
    /// ```swift
    /// try people.update(["age": ["$lt": 18]]) { person in
    ///     person.name = person.name.capitalized
    /// }
    /// ```
    ///
    /// The matching documents are determined before the first change. Operators such as `$inc` are faster where they
    /// suffice.
    ///
    /// - Parameters:
    ///   - query: Which documents; the empty one matches all.
    ///   - hints: Options, such as `["$orderby": ["age": -1], "$max": 10]`. Not `$fields`: documents are whole.
    ///   - body: What to change in each; as for one document.
    /// - Returns: How many documents matched, and how many of those changed.
    /// - Throws: As for one document, and ``TansuError`` with `.invalidQuery`; then the update is rolled back.
    @discardableResult
    public func update(
        _ query: BSONDocument, hints: BSONDocument = [:], _ body: (inout Element) throws -> Void
    ) throws -> Database.UpdateResult {
        try hints.reject("$fields", "$onlycount", "$explain", "$do")
        try query.reject("$do")
        return try session.inTransaction { session in
            let collection = using(session)
            var (matched, modified) = (0, 0)
            let (query, hints) = try stored(query, hints)
            try session.engine.forEach(query, hints: hints, in: name) { document in
                matched += 1
                if try collection.change(document, body).isModified { modified += 1 }
            }
            return Database.UpdateResult(matched: matched, modified: modified)
        }
    }

    /// Changes the value of a stored document by the closure, and saves what it changed.
    private func change(
        _ stored: BSONDocument, _ body: (inout Element) throws -> Void
    ) throws -> (element: Element, isModified: Bool) {
        var element = try stored.withUnsafeBytes(codec.decode)
        let before = try codec.document(of: element)
        try body(&element)
        let after = try codec.document(of: element)
        let changed = stored.applying(changesFrom: before, to: after)
        guard changed["_id"] == stored["_id"] else {
            throw TansuError(
                .invalidID, "The closure changed the _id; keep it, or save a new document and remove the old one",
                context: "_id")
        }
        if changed == stored { return (element, false) }
        _ = try changed.withUnsafeBytes { try session.save($0, .replace, in: name) }
        return (element, true)
    }
}

extension BSONDocument {
    /// This document with the differences between two others applied; fields that neither of them has stay.
    package func applying(changesFrom before: BSONDocument, to after: BSONDocument) -> BSONDocument {
        if before == after { return self }
        if before == self { return after }
        var result = self
        for key in before.keys where !after.contains(key: key) { result[key] = nil }
        for (key, value) in after where before[key] != value {
            if case .document(let new) = value, case .document(let old)? = before[key],
                case .document(let own)? = self[key]
            {
                result[key] = .document(own.applying(changesFrom: old, to: new))
            } else {
                result[key] = value
            }
        }
        return result
    }

    /// Throws `.invalidQuery` for members that are not allowed.
    func reject(_ keys: String...) throws {
        for key in keys where contains(key: key) {
            throw TansuError(.invalidQuery, "\"\(key)\" is not allowed here; remove it", context: key)
        }
    }
}

// MARK: - Async updating by closure

extension Database.Collection {
    /// Changes one document by a closure, in one transaction: no other write commits between reading and saving it.
    ///
    /// - Parameters:
    ///   - id: Its `_id`, which must stay the same.
    ///   - body: What to change, on a thread of the database. Its error rolls back and is rethrown.
    /// - Returns: The value after the closure; `nil`, without a call of the closure, when there is no such document.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @_disfavoredOverload
    @discardableResult
    public func update(
        id: some DocumentID, _ body: @escaping @Sendable (inout Element) throws -> Void
    ) async throws -> Element? {
        let id = stored(id)
        return try await session.runCancellable(.write) { try self.using($0).update(storedID: id, body) }
    }

    /// Changes the documents that match by a closure, one after another, in one transaction.
    ///
    /// - Parameters:
    ///   - query: Which documents; the empty one matches all.
    ///   - hints: Options. Not `$fields`: documents are whole.
    ///   - body: What to change in each, on a thread of the database.
    /// - Returns: How many documents matched, and how many of those changed.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func update(
        _ query: BSONDocument, hints: BSONDocument = [:], _ body: @escaping @Sendable (inout Element) throws -> Void
    ) async throws -> Database.UpdateResult {
        try await session.runCancellable(.write) { try self.using($0).update(query, hints: hints, body) }
    }
}
