extension Database.Query {
    /// One page of the documents: after a page token, or the first one.
    ///
    /// For example:
    ///
    /// ```swift
    /// let query = try people.find { $0.age >= 18 }.sorted(by: \.name)
    /// let first = try query.page(size: 20)
    /// if let token = first.next { let second = try query.page(after: token, size: 20) }
    /// ```
    ///
    /// The documents are sorted as the query says, and then by `_id` in the direction of the last path; without a sort
    /// order by `_id`. A token holds the sort key of the last document instead of a count, so that no document is
    /// repeated or skipped when others are inserted or removed meanwhile. With an index over the sort paths and `_id`
    /// every page is as fast as the first.
    ///
    /// - Parameters:
    ///   - token: The token of the previous page, of the same sort order and the same or another query.
    ///   - size: The maximum number of documents, 1 to 2,147,483,646.
    /// - Throws: ``TansuError`` with `.invalidQuery`: as `all()`, an invalid token, a skip or limit in the query, or
    ///   a sort by values that no query can compare, such as regular expressions.
    public func page(after token: Database.PageToken? = nil, size: Int) throws -> Database.Page<Element> {
        guard session.transaction == nil else { return try readPage(after: token, size: size) }
        return try session.database.readInCall {
            try using($0.session).readPage(after: token, size: size)
        }
    }

    /// One page of the documents: after a page token, or the first one.
    ///
    /// - Parameters:
    ///   - token: The token of the previous page, of the same sort order and the same or another query.
    ///   - size: The maximum number of documents, 1 to 2,147,483,646.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func page(after token: Database.PageToken? = nil, size: Int) async throws -> Database.Page<Element> {
        try await session.runCancellable(.read) { try self.using($0).readPage(after: token, size: size) }
    }

    /// In a transaction, so that all calls see one snapshot.
    private func readPage(after token: Database.PageToken?, size: Int) throws -> Database.Page<Element> {
        try checkPaging(size)
        try checkOrder()
        let order = PageOrder(hints["$orderby"]?.documentValue ?? [:])
        let paged = try after(token, in: order)
        let elements = try paged.limit(size).all()
        // A page may have fewer elements: documents that cannot be decoded may be skipped.
        let mayGoOn = elements.count == size || codec.skips
        guard mayGoOn, let last = try paged.documentWithNext(at: size - 1) else {
            return Database.Page(elements: elements, next: nil)
        }
        let values = try order.values(of: last) { try self.extreme($0, $1, of: last) }
        return Database.Page(elements: elements, next: Database.PageToken(order: order.document, values: values))
    }

    /// The documents after a page, in the order of pages.
    func after(_ token: Database.PageToken?, in order: PageOrder) throws -> Self {
        var query = self
        query.hints["$orderby"] = .document(order.document)
        if let token { query = query.filtered(by: try order.after(try token.values(for: order.document))) }
        query.isPaged = true
        return query
    }

    private func checkPaging(_ size: Int) throws {
        guard size > 0 && size < Int(Int32.max) else {
            throw TansuError(
                .invalidQuery, "The page size \(size) is out of range; pass 1 to \(Int32.max - 1)", context: "\(size)")
        }
        for hint in ["$skip", "$max", "$limit", "$onlycount", "$explain"] where hints[hint] != nil {
            throw TansuError(
                .invalidQuery, "The hint \"\(hint)\" cannot be combined with paging; remove it",
                context: "hints.\(hint)")
        }
    }

    private func filtered(by rest: BSONDocument) -> Self {
        var query = self
        query.filter = filter.isEmpty ? rest : ["$and": [.document(filter), .document(rest)]]
        return query
    }

    /// The complete document at a position, when another one follows it.
    private func documentWithNext(at position: Int) throws -> BSONDocument? {
        var hints = self.hints
        hints["$fields"] = nil
        hints["$do"] = nil
        let documents = Database.Query<BSONDocument>(
            session: session, collection: collection, codec: .documents, filter: filter, hints: hints)
        let pair = try documents.skip(position).limit(2).all()
        return pair.count == 2 ? pair[0] : nil
    }

    /// The least or the greatest value of a path in one document, by which it is sorted.
    private func extreme(_ path: String, _ direction: SortDirection, of document: BSONDocument) throws -> BSONValue {
        let id = document["_id"] ?? .null
        let alone: BSONDocument = ["_id": ["$eq": id]]
        var hints: BSONDocument = [:]
        if let collation = self.hints["$collation"] { hints["$collation"] = collation }
        let answer = try session.engine.distinct(path, alone, hints, in: collection)
        let values = answer["values"]?.arrayValue.map(Array.init)?.filter { !$0.isNull } ?? []
        if direction == .descending { return values.last ?? .null }
        let isNull: BSONDocument = ["$and": [.document(alone), .document(SortKey.hasNull(path))]]
        let hasNull = try session.engine.count(isNull, [:], in: collection) > 0
        return hasNull ? .null : values.first ?? .null
    }
}
