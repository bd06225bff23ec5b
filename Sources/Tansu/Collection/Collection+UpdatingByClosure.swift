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
