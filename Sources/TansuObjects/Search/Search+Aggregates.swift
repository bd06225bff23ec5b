public import Tansu

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
