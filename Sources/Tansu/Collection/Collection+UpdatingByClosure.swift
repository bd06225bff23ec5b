extension Database.Collection {
    /// Changes one document by a closure, in one transaction: nobody else writes between reading it and saving it.
    ///
    /// For example:
    ///
    /// ```swift
    /// try people.update(id: mike.id) { $0.age += 1 }
    /// ```
    ///
    /// Only what the closure changed is written: a field of the document that the type does not know stays.
    ///
    /// - Parameters:
    ///   - id: Its `_id`, which must stay the same.
    ///   - body: What to change. Its error rolls back and is thrown on. It must not write to the database otherwise
    ///     than through a transaction that it is in: that throws `.busy`.
    /// - Returns: The value after the closure; `nil`, without a call of the closure, when there is no such document.
    /// - Throws: The closure's error; ``TansuError`` with `.invalidID` (it changed the `_id`), and as `save`;
    ///   `DecodingError`, `EncodingError`.
    @discardableResult
    public func update(id: some DocumentID, _ body: (inout Element) throws -> Void) throws -> Element? {
        try session.writing { session in
            guard let stored = try session.reading.document(id.bsonID, in: name) else { return nil }
            return try moved(to: session).change(stored, body).element
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
    /// What matches is fixed before the first change. Operators, such as `$inc`, do what they can express faster.
    ///
    /// - Parameters:
    ///   - query: Which documents; the empty one matches all.
    ///   - hints: How, such as `["$orderby": ["age": -1], "$max": 10]`. Not `$fields`: documents are whole.
    ///   - body: What to change in each; as for one document.
    /// - Returns: How many documents matched, and how many of those are other than before.
    /// - Throws: As for one document, and ``TansuError`` with `.invalidQuery`; then nothing of the update is kept.
    @discardableResult
    public func update(
        _ query: BSONDocument, hints: BSONDocument = [:], _ body: (inout Element) throws -> Void
    ) throws -> Database.UpdateResult {
        try hints.refuse("$fields", "$onlycount", "$explain", "$do")
        try query.refuse("$do")
        return try session.writing { session in
            let collection = moved(to: session)
            var (matched, modified) = (0, 0)
            try collection.decoded(as: BSONDocument.self).find(query, hints: hints).forEach { document in
                matched += 1
                if try collection.change(document, body).isModified { modified += 1 }
            }
            return Database.UpdateResult(matched: matched, modified: modified)
        }
    }

    /// Has the closure change a stored document's value, and saves what it changed.
    private func change(
        _ stored: BSONDocument, _ body: (inout Element) throws -> Void
    ) throws -> (element: Element, isModified: Bool) {
        var element = try stored.withUnsafeBytes(codec.decode)
        let before = try codec.document(of: element)
        try body(&element)
        let after = try codec.document(of: element)
        let changed = stored.applying(changesFrom: before, to: after)
        guard changed["_id"] == stored["_id"] else {
            throw TansuError(.invalidID, "an update must not change the _id", context: "_id")
        }
        if changed == stored { return (element, false) }
        _ = try changed.withUnsafeBytes { try session.save($0, sizes: [$0.count], .replace, in: name) }
        return (element, true)
    }
}

extension BSONDocument {
    /// This document with what is different between two others: what neither of them has stays.
    func applying(changesFrom before: BSONDocument, to after: BSONDocument) -> BSONDocument {
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

    /// Throws `.invalidQuery` for members that make no sense where this is given.
    func refuse(_ keys: String...) throws {
        for key in keys where contains(key: key) {
            throw TansuError(.invalidQuery, "\(key) has no meaning here", context: key)
        }
    }
}
