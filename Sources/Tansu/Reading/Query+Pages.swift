extension Database.Query {
    /// So many documents behind a page that was read before, or the first ones.
    ///
    /// For example:
    ///
    /// ```swift
    /// let query = try people.find { $0.age >= 18 }.sorted(by: \.name)
    /// let first = try query.page(size: 20)
    /// if let token = first.next { let second = try query.page(after: token, size: 20) }
    /// ```
    ///
    /// The documents come in the query's order, those that are equal in it by `_id`, in the direction of the last
    /// path; without an order by `_id`. Going on does not count documents but looks for what comes behind the last
    /// one, so that nothing comes twice or is left out when others are inserted or removed meanwhile; and an index
    /// over the paths of the order and `_id` makes every page as quick as the first.
    ///
    /// - Parameters:
    ///   - token: The end of the page before; of the same order, with the same or another query.
    ///   - size: How many documents at the most, 1 or more.
    /// - Throws: ``TansuError`` with `.invalidQuery`: what `all()` throws, a token of something else, a skip or limit
    ///   in the query, or a sort by values that no query can compare, such as regular expressions.
    public func page(after token: Database.PageToken? = nil, size: Int) throws -> Database.Page<Element> {
        guard session.transaction == nil else { return try readPage(after: token, size: size) }
        return try session.database.read(stoppedBy: nil) {
            try moved(to: $0.session).readPage(after: token, size: size)
        }
    }

    /// So many documents behind a page that was read before, or the first ones.
    ///
    /// - Parameters:
    ///   - token: The end of the page before; of the same order, with the same or another query.
    ///   - size: How many documents at the most, 1 or more.
    /// - Throws: As the form that is not async, and `CancellationError`.
    public func page(after token: Database.PageToken? = nil, size: Int) async throws -> Database.Page<Element> {
        try await session.suspendStoppable(.read) { try self.moved(to: $0).readPage(after: token, size: size) }
    }

    /// In a transaction, for several calls see one moment.
    private func readPage(after token: Database.PageToken?, size: Int) throws -> Database.Page<Element> {
        try checkPaging(size)
        let order = PageOrder(hints["$orderby"]?.documentValue ?? [:])
        let paged = try behind(token, in: order)
        let elements = try paged.limit(size).all()
        guard elements.count == size, let last = try paged.documentWithNext(at: size - 1) else {
            return Database.Page(elements: elements, next: nil)
        }
        let values = try order.values(of: last) { try self.extreme($0, $1, of: last) }
        return Database.Page(elements: elements, next: Database.PageToken(order: order.document, values: values))
    }

    /// The documents behind a page, in the order of pages.
    func behind(_ token: Database.PageToken?, in order: PageOrder) throws -> Self {
        var query = self
        query.hints["$orderby"] = .document(order.document)
        return try token.map { query.filtered(by: try order.behind(try $0.values(for: order.document))) } ?? query
    }

    private func checkPaging(_ size: Int) throws {
        guard size > 0 && size < Int(Int32.max) else {
            throw TansuError(.invalidQuery, "a page has one document or more", context: "\(size)")
        }
        for hint in ["$skip", "$max", "$limit", "$onlycount", "$explain"] where hints[hint] != nil {
            throw TansuError(.invalidQuery, "pages do not go with this hint: leave it out", context: "hints.\(hint)")
        }
    }

    private func filtered(by rest: BSONDocument) -> Self {
        let both: BSONDocument = filter.isEmpty ? rest : ["$and": [.document(filter), .document(rest)]]
        return Self(session: session, collection: collection, codec: codec, filter: both, hints: hints)
    }

    /// The whole document at a position, when another one comes behind it.
    private func documentWithNext(at position: Int) throws -> BSONDocument? {
        var hints = self.hints
        hints["$fields"] = nil
        hints["$do"] = nil
        let documents = Database.Query<BSONDocument>(
            session: session, collection: collection, codec: .documents, filter: filter, hints: hints)
        let pair = try documents.skip(position).limit(2).all()
        return pair.count == 2 ? pair[0] : nil
    }

    /// The least or the greatest value of a path in one document, as an order by it sees it.
    private func extreme(_ path: String, _ direction: SortDirection, of document: BSONDocument) throws -> BSONValue {
        let id = document["_id"] ?? .null
        let alone: BSONDocument = ["_id": ["$eq": id]]
        var hints: BSONDocument = [:]
        if let collation = self.hints["$collation"] { hints["$collation"] = collation }
        let answer = try session.reading.distinct(path, alone, hints, in: collection)
        let values = answer["values"]?.arrayValue.map(Array.init)?.filter { !$0.isNull } ?? []
        if direction == .descending { return values.last ?? .null }
        let hasNull = try session.reading.count(["_id": ["$eq": id], path: nil], [:], in: collection) > 0
        return hasNull ? .null : values.first ?? .null
    }
}
