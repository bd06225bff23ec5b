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
        try ensureIndex(
            name, on: indexKeys(repeat each keyPaths, directions: directions), unique: unique, sparse: sparse,
            caseInsensitive: caseInsensitive, partialFilter: condition.map { try find($0).filter },
            maxEntries: maxEntries)
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
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func ensureIndex<each Value>(
        _ name: String? = nil, on keyPaths: repeat KeyPath<Element, each Value>, directions: [SortDirection] = [],
        unique: Bool = false, sparse: Bool = false, caseInsensitive: Bool = false,
        maxEntries: Int? = nil, where condition: ((Database.Field<Element>) -> Database.Condition)? = nil
    ) async throws {
        try await ensureIndex(
            name, on: indexKeys(repeat each keyPaths, directions: directions), unique: unique, sparse: sparse,
            caseInsensitive: caseInsensitive, partialFilter: condition.map { try find($0).filter },
            maxEntries: maxEntries)
    }

    private func indexKeys<each Value>(
        _ keyPaths: repeat KeyPath<Element, each Value>, directions: [SortDirection]
    ) throws -> [Database.IndexKey] {
        var keys: [Database.IndexKey] = []
        for keyPath in repeat each keyPaths {
            let direction = keys.count < directions.count ? directions[keys.count] : .ascending
            keys.append(Database.IndexKey(try find().path(of: keyPath), direction))
        }
        return keys
    }
}
