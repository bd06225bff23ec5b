extension Database.Collection {
    /// Creates an index over properties, unless it exists.
    ///
    /// For example:
    ///
    /// ```swift
    /// try people.ensureIndex(on: \.name)
    /// try people.ensureIndex(on: \.mail, unique: true, sparse: true)
    /// try visits.ensureIndex(on: \.customerID, \.date, directions: [.ascending, .descending])
    /// ```
    ///
    /// - Parameters:
    ///   - name: Its name; derived from the paths when `nil`.
    ///   - keyPaths: The properties that it sorts documents by, the most significant first.
    ///   - directions: The directions of the first properties; the others are ascending.
    ///   - unique: Whether two documents with the same values are rejected.
    ///   - sparse: Whether documents with none of the properties are not indexed.
    ///   - caseInsensitive: Whether it ignores letter case, for case-insensitive queries.
    ///   - maxEntries: How many entries one document may have in the index, by its arrays; 1 to 1,000,000, and 10,000
    ///     when `nil`.
    ///   - condition: Only documents that match are indexed; all when `nil`.
    /// - Throws: As `ensureIndex(_:on:unique:sparse:caseInsensitive:partialFilter:maxEntries:progress:)`,
    ///   and ``TansuError`` with `.invalidQuery`: the stored name of a property is not known.
    public func ensureIndex<each Value>(
        _ name: String? = nil, on keyPaths: repeat KeyPath<Element, each Value>, directions: [SortDirection] = [],
        unique: Bool = false, sparse: Bool = false, caseInsensitive: Bool = false,
        maxEntries: Int? = nil, where condition: ((Database.Field<Element>) -> Database.Condition)? = nil
    ) throws {
        let keys = try IndexPaths(repeat each keyPaths, unique: unique).keys(in: self, directions)
        let filter = try condition.map { try find($0).filter }
        let index = Database.Index<Element>(
            name, unique: unique, sparse: sparse, caseInsensitive: caseInsensitive, maxEntries: maxEntries,
            isByText: false, paths: { _ in keys }, filter: { _ in filter })
        try ensure(index.definition(in: self), declares: false)
    }

    /// Creates an index over properties, unless it exists.
    ///
    /// - Parameters:
    ///   - name: Its name; derived from the paths when `nil`.
    ///   - keyPaths: The properties that it sorts documents by, the most significant first.
    ///   - directions: The directions of the first properties; the others are ascending.
    ///   - unique: Whether two documents with the same values are rejected.
    ///   - sparse: Whether documents with none of the properties are not indexed.
    ///   - caseInsensitive: Whether it ignores letter case, for case-insensitive queries.
    ///   - maxEntries: How many entries one document may have in the index, by its arrays; 1 to 1,000,000, and 10,000
    ///     when `nil`.
    ///   - condition: Only documents that match are indexed; all when `nil`.
    ///   - isolation: The actor on which the closure runs: the caller's.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func ensureIndex<each Value>(
        _ name: String? = nil, on keyPaths: repeat KeyPath<Element, each Value>, directions: [SortDirection] = [],
        unique: Bool = false, sparse: Bool = false, caseInsensitive: Bool = false,
        maxEntries: Int? = nil, where condition: ((Database.Field<Element>) -> Database.Condition)? = nil,
        isolation: isolated (any Actor)? = #isolation
    ) async throws {
        let keys = try IndexPaths(repeat each keyPaths, unique: unique).keys(in: self, directions)
        let filter = try condition.map { try find($0).filter }
        let index = Database.Index<Element>(
            name, unique: unique, sparse: sparse, caseInsensitive: caseInsensitive, maxEntries: maxEntries,
            isByText: false, paths: { _ in keys }, filter: { _ in filter })
        let definition = try index.definition(in: self)
        try await session.run(.write) { flag in
            try self.ensure(definition, declares: false) { _ in try flag.check() }
        }
    }
}

extension Database.Index {
    /// An index over properties.
    ///
    /// - Parameters:
    ///   - name: Its name; derived from the paths when `nil`.
    ///   - keyPaths: The properties that it sorts documents by, the most significant first.
    ///   - directions: The directions of the first properties; the others are ascending.
    ///   - unique: Whether two documents with the same values are rejected.
    ///   - sparse: Whether documents with none of the properties are not indexed.
    ///   - caseInsensitive: Whether it ignores letter case, for case-insensitive queries.
    ///   - maxEntries: How many entries one document may have in the index, by its arrays; 1 to 1,000,000, and 10,000
    ///     when `nil`.
    ///   - condition: Only documents that match are indexed; all when `nil`.
    public init<each Value>(
        _ name: String? = nil, on keyPaths: repeat KeyPath<Element, each Value>, directions: [SortDirection] = [],
        unique: Bool = false, sparse: Bool = false, caseInsensitive: Bool = false,
        maxEntries: Int? = nil, where condition: (@Sendable (Database.Field<Element>) -> Database.Condition)? = nil
    ) {
        let paths = IndexPaths(repeat each keyPaths, unique: unique)
        self.init(
            name, unique: unique, sparse: sparse, caseInsensitive: caseInsensitive, maxEntries: maxEntries,
            isByText: false,
            paths: { try paths.keys(in: $0, directions) },
            filter: { collection in try condition.map { try collection.find($0).filter } })
    }
}

/// Finds the stored paths of properties in the documents of a collection.
private struct IndexPaths<Element: Sendable>: Sendable {
    private var finders: [@Sendable (Database.Collection<Element>) throws -> String] = []

    init<each Value>(_ keyPaths: repeat KeyPath<Element, each Value>, unique: Bool) {
        for keyPath in repeat each keyPaths {
            add(keyPath, unique)
        }
    }

    private mutating func add<Value>(_ keyPath: KeyPath<Element, Value>, _ isUnique: Bool) {
        let property = ReadOnlyKeyPath(keyPath: keyPath)
        finders.append {
            if isUnique { try UniqueIndex.check(Value.self, at: property.keyPath.shown) }
            return try $0.find().path(of: property.keyPath)
        }
    }

    /// The keys of an index with the directions of its first paths; the others are ascending.
    func keys(
        in collection: Database.Collection<Element>, _ directions: [SortDirection]
    ) throws -> [Database.IndexKey] {
        try finders.enumerated().map { number, path in
            Database.IndexKey(try path(collection), number < directions.count ? directions[number] : .ascending)
        }
    }
}
