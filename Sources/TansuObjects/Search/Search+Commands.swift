public import Tansu

extension Search {
    /// The query document that runs in each collection.
    ///
    /// - Throws: `TansuError` with `.invalidArgument`: the name of an attribute is empty or has a NUL character, a value does not
    ///   fit its comparison, or the expression has too many levels.
    public var query: BSONDocument {
        get throws { try expression?.query ?? [:] }
    }

    /// The hints of that query: order, range and fields.
    ///
    /// - Throws: `TansuError` with `.invalidArgument` for a limit or an offset below zero, and an empty path.
    public var hints: BSONDocument {
        get throws {
            guard limit >= 0, offset >= 0 else {
                throw TansuError(
                    .invalidArgument, "The limit or the offset of a search is below zero; use 0 for none",
                    context: limit < 0 ? "limit" : "offset")
            }
            var hints: BSONDocument = [:]
            if !order.isEmpty {
                var keys: BSONDocument = [:]
                for key in order where keys[key.path] == nil {
                    try key.path.checkAttribute()
                    keys[key.path] = key.isDescending ? -1 : 1
                }
                hints["$orderby"] = .document(keys)
            }
            if !returnedAttributes.isEmpty {
                var fields: BSONDocument = [:]
                for path in returnedAttributes {
                    try path.checkAttribute()
                    fields[path] = 1
                }
                hints["$fields"] = .document(fields)
            }
            if offset > 0 { hints["$skip"] = BSONValue(offset) }
            if limit > 0 { hints["$max"] = BSONValue(limit) }
            return hints
        }
    }

    /// The commands in JSON form that find the same documents, one for each collection. With several collections, order, limit and
    /// offset are those of all of them together, which no single command has.
    ///
    /// - Parameter source: A database or a transaction, for its collections.
    /// - Throws: As ``query`` and ``hints``.
    public func commands(in source: some ObjectSource) throws -> [BSONDocument] {
        let session = try Session(of: source)
        let (query, hints) = (try query, try hints)
        return try names(in: session).map { name in
            let stored = try session.stored(query, ordering: order.map(\.path), in: name)
            return ["op": "find", "collection": .string(name), "query": .document(stored), "hints": .document(hints)]
        }
    }

    /// The names of the collections.
    func names(in session: Session) throws -> [String] {
        guard !collections.isEmpty else {
            return try session.collections().map(\.name).filter { !$0.hasPrefix("tansu.") }
        }
        var seen: Set<BytewiseText> = []
        return collections.filter { seen.insert(BytewiseText($0)).inserted }
    }
}

extension Session {
    /// Where a database's or a transaction's calls run.
    init(of source: some ObjectSource) throws {
        if let database = source as? Database {
            self.init(database)
        } else if let transaction = source as? Database.Transaction {
            self = transaction.session
        } else {
            throw TansuError(.invalidArgument, "A search runs in a database or a transaction; give one of these")
        }
    }

    /// A query with its values in the form in which a collection of the model stores them.
    ///
    /// - Parameter paths: What the results are sorted by or computed of.
    /// - Throws: ``TansuError`` with `.invalidQuery`: what it compares, sorts by or computes with is not stored in the order
    ///   of its type.
    func stored(
        _ query: BSONDocument, ordering paths: some Sequence<String> = [], in collection: String
    ) throws -> BSONDocument {
        let entities = ModelRegistry.of(database).model?.entities
        guard let entity = entities?.first(where: { $0.collection == collection }) else { return query }
        let stored = try storedQuery(query, of: collection, entity.coding)
        for path in paths { try StoredOrder.check(path: path, of: entity.elementType, entity.coding) }
        return stored
    }
}
