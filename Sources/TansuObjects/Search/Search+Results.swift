public import Tansu

extension Search {
    /// The documents with their collections and ids.
    ///
    /// - Parameter source: A database or a transaction. All collections are read in one snapshot.
    /// - Throws: As ``query`` and ``hints``, and as `all()` of a query.
    public func results(in source: some ObjectSource) throws -> [Result] {
        try Session(of: source).inSnapshot { try results(in: $0) }
    }

    /// The documents with their collections and ids.
    ///
    /// - Parameter source: A database or a transaction.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func results(in source: some ObjectSource) async throws -> [Result] {
        try await Session(of: source).runCancellable(.read) { session in
            try session.inSnapshot { try results(in: $0) }
        }
    }

    /// The documents.
    ///
    /// - Parameter source: A database or a transaction.
    /// - Throws: As `results(in:)`.
    public func documents(in source: some ObjectSource) throws -> [BSONDocument] {
        try results(in: source).map(\.document)
    }

    /// The documents.
    ///
    /// - Parameter source: A database or a transaction.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func documents(in source: some ObjectSource) async throws -> [BSONDocument] {
        try await results(in: source).map(\.document)
    }

    /// The keys of the documents: collection and id.
    ///
    /// - Parameter source: A database or a transaction.
    /// - Throws: As `results(in:)`.
    public func keys(in source: some ObjectSource) throws -> [ObjectKey] {
        try withoutAttributes.results(in: source).map(\.key)
    }

    /// The keys of the documents: collection and id.
    ///
    /// - Parameter source: A database or a transaction.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func keys(in source: some ObjectSource) async throws -> [ObjectKey] {
        try await withoutAttributes.results(in: source).map(\.key)
    }

    /// The documents of a type's collection, as values of the type.
    ///
    /// - Parameters:
    ///   - type: A type of the ``Model``.
    ///   - source: A database or a transaction.
    /// - Throws: As `results(in:)`; `TansuError` with `.invalidState` without a model, `.invalidArgument` for a type that it does not
    ///   have, or whose collection is not searched; `DecodingError`, also when an attribute that the type needs is not returned.
    public func objects<Element: Codable & Sendable & Identifiable>(
        of type: Element.Type, in source: some ObjectSource
    ) throws -> [Element] {
        try objects(of: type, in: Session(of: source))
    }

    /// The documents of a type's collection, as values of the type.
    ///
    /// - Parameters:
    ///   - type: A type of the ``Model``.
    ///   - source: A database or a transaction.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func objects<Element: Codable & Sendable & Identifiable>(
        of type: Element.Type, in source: some ObjectSource
    ) async throws -> [Element] {
        try await Session(of: source).runCancellable(.read) { try objects(of: type, in: $0) }
    }

    /// How many documents are found; ``limit`` and ``offset`` count too.
    ///
    /// - Parameter source: A database or a transaction.
    /// - Throws: As `results(in:)`.
    public func count(in source: some ObjectSource) throws -> Int {
        try Session(of: source).inSnapshot { try count(in: $0) }
    }

    /// How many documents are found.
    ///
    /// - Parameter source: A database or a transaction.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func count(in source: some ObjectSource) async throws -> Int {
        try await Session(of: source).runCancellable(.read) { session in
            try session.inSnapshot { try count(in: $0) }
        }
    }

    /// The plan of the query in each collection, by its name. All of them are executed completely.
    ///
    /// - Parameter source: A database or a transaction.
    /// - Throws: As `results(in:)`.
    public func explain(in source: some ObjectSource) throws -> [String: Database.Explanation] {
        try Session(of: source).inSnapshot { try explain(in: $0) }
    }

    /// The plan of the query in each collection, by its name.
    ///
    /// - Parameter source: A database or a transaction.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func explain(in source: some ObjectSource) async throws -> [String: Database.Explanation] {
        try await Session(of: source).runCancellable(.read) { session in
            try session.inSnapshot { try explain(in: $0) }
        }
    }

    /// The documents: the current ones immediately, then again after each change of them.
    ///
    /// It behaves as `observe` of a database.
    ///
    /// - Parameter database: The database.
    public func observe(in database: Database) -> Database.ValueObservation<[Result]> {
        database.observe { try results(in: $0) }
    }
}

extension Search {
    private var withoutAttributes: Search {
        var search = self
        search.returnedAttributes = ["_id"]
        return search
    }

    /// A search for the same documents in no order, without a range and with all attributes.
    private var unordered: Search {
        var search = Search(where: expression)
        search.collections = collections
        return search
    }

    private func results(in session: Session) throws -> [Result] {
        let names = try names(in: session)
        let (query, hints) = (try query, try hints)
        var own = hints
        if names.count > 1 {
            // What may be in the range: no more of each collection than its end.
            let end = offset.addingReportingOverflow(limit)
            own["$skip"] = nil
            own["$max"] = nil
            if limit > 0, !end.overflow { own["$max"] = BSONValue(end.partialValue) }
            // They are sorted once more, by what may not be returned.
            if !order.isEmpty { own["$fields"] = nil }
        }
        var results: [Result] = []
        for name in names {
            if names.count > 1, order.isEmpty, limit > 0, results.count - offset >= limit { break }
            results += try session.query(query, own, in: name).all().map { Result($0, in: name) }
        }
        guard names.count > 1 else { return results }
        guard order.isEmpty else { return try SearchUnion(of: results).results(hints) }
        let range = results.dropFirst(offset)
        return Array(limit > 0 ? range.prefix(limit) : range)
    }

    private func objects<Element: Codable & Sendable & Identifiable>(
        of type: Element.Type, in session: Session
    ) throws -> [Element] {
        let elements = try ModelRegistry.of(session.database).collection(of: type, in: session)
        guard try names(in: session).contains(elements.name) else {
            throw TansuError(
                .invalidArgument,
                "The collection \"\(elements.name)\" of \"\(type)\" is not among those of the search; add it",
                context: elements.name)
        }
        return try elements.find(query, hints: hints).all()
    }

    private func count(in session: Session) throws -> Int {
        let (query, _) = (try query, try hints)
        let all = try names(in: session).reduce(0) { try $0 + session.query(query, [:], in: $1).count() }
        let left = max(0, all - offset)
        return limit > 0 ? min(limit, left) : left
    }

    private func explain(in session: Session) throws -> [String: Database.Explanation] {
        let (query, hints) = (try query, try hints)
        var explanations: [String: Database.Explanation] = [:]
        for name in try names(in: session) {
            explanations[name] = try session.query(query, hints, in: name).explain()
        }
        return explanations
    }

    /// What the query finds in all collections, without order and range.
    func union(in session: Session) throws -> SearchUnion {
        try SearchUnion(of: unordered.results(in: session))
    }
}

extension Search.Result {
    init(_ document: BSONDocument, in collection: String) {
        self.init(key: ObjectKey(collection: collection, id: document["_id"] ?? .null), document: document)
    }
}

extension Session {
    /// A query for documents, with its values as the model stores those of the collection.
    func query(
        _ query: BSONDocument, _ hints: BSONDocument, in name: String
    ) throws -> Database.Query<BSONDocument> {
        try typedCollection(name, of: BSONDocument.self, coding: BSONCodingStrategies())
            .find(stored(query, ordering: hints["$orderby"]?.documentValue?.keys ?? [], in: name), hints: hints)
    }
}

// MARK: - Aggregates

extension Search {
    /// The distinct values of an attribute, in ascending order; of arrays their elements. ``limit`` and ``offset`` are those of the
    /// values.
    ///
    /// - Parameters:
    ///   - path: The dotted path of the attribute.
    ///   - source: A database or a transaction.
    /// - Throws: As `results(in:)`.
    public func distinctValues(of path: String, in source: some ObjectSource) throws -> [BSONValue] {
        try Session(of: source).inSnapshot { try distinctValues(of: path, in: $0) }
    }

    /// The distinct values of an attribute, in ascending order.
    ///
    /// - Parameters:
    ///   - path: The dotted path of the attribute.
    ///   - source: A database or a transaction.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func distinctValues(of path: String, in source: some ObjectSource) async throws -> [BSONValue] {
        try await Session(of: source).runCancellable(.read) { session in
            try session.inSnapshot { try distinctValues(of: path, in: $0) }
        }
    }

    /// A number that is computed of the documents.
    ///
    /// - Parameters:
    ///   - aggregate: What is computed, and of which attribute.
    ///   - source: A database or a transaction.
    /// - Throws: As `results(in:)`.
    public func aggregate(_ aggregate: AggregateFunction, in source: some ObjectSource) throws -> BSONValue {
        try Session(of: source).inSnapshot { try self.aggregate(aggregate, in: $0) }
    }

    /// A number that is computed of the documents.
    ///
    /// - Parameters:
    ///   - aggregate: What is computed, and of which attribute.
    ///   - source: A database or a transaction.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func aggregate(_ aggregate: AggregateFunction, in source: some ObjectSource) async throws -> BSONValue {
        try await Session(of: source).runCancellable(.read) { session in
            try session.inSnapshot { try self.aggregate(aggregate, in: $0) }
        }
    }

    private func distinctValues(of path: String, in session: Session) throws -> [BSONValue] {
        try path.checkAttribute()
        let (names, query, hints) = (try names(in: session), try query, try hints)
        let range = hints.filter { $0.key == "$skip" || $0.key == "$max" }
        guard names.count == 1 else { return try union(in: session).distinctValues(of: path, BSONDocument(range)) }
        return try session.documents(names[0]).distinct(
            path, session.stored(query, in: names[0]), hints: BSONDocument(range))
    }

    private func aggregate(_ aggregate: AggregateFunction, in session: Session) throws -> BSONValue {
        let (name, path) = aggregate.operation
        try path.checkAttribute()
        let (names, query) = (try names(in: session), try query)
        _ = try hints
        let paths = name == "$count" ? [] : [path]
        let queries = try names.map { try session.stored(query, ordering: paths, in: $0) }
        let groups =
            try names.count == 1
            ? session.documents(names[0]).aggregate(
                queries[0], group: ["fields": ["value": [name: .string(path)]]])
            : union(in: session).aggregate(name, path)
        return groups.first?["value"] ?? aggregate.ofNothing
    }
}

extension Search.AggregateFunction {
    fileprivate var operation: (name: String, path: String) {
        switch self {
        case .count(let path): ("$count", path)
        case .sum(let path): ("$sum", path)
        case .average(let path): ("$avg", path)
        case .min(let path): ("$min", path)
        case .max(let path): ("$max", path)
        }
    }

    fileprivate var ofNothing: BSONValue {
        switch self {
        case .count, .sum: 0
        case .average, .min, .max: .null
        }
    }
}

extension Session {
    func documents(_ name: String) throws -> Database.Collection<BSONDocument> {
        try typedCollection(name, of: BSONDocument.self, coding: BSONCodingStrategies())
    }
}
