// The async variants of Collection+Indexes.swift.
extension Database.Collection {
    /// Creates an index over all existing and future documents, unless it exists.
    ///
    /// - Parameters:
    ///   - name: Its name; derived from the paths when `nil`.
    ///   - paths: The dotted paths that it sorts documents by, the most significant first.
    ///   - unique: Whether two documents with the same values are rejected.
    ///   - sparse: Whether documents with none of the paths are not indexed.
    ///   - caseInsensitive: Whether it ignores letter case, for case-insensitive queries.
    ///   - partialFilter: A query of comparisons, `$exists`, `$type` and `$begin`, joined by `$and`, `$or`,
    ///     `$nor` and `$not`: other documents are not indexed.
    ///   - maxEntries: How many entries one document may have in the index, by its arrays; 1 to 1,000,000, and 10,000
    ///     when `nil`.
    ///   - progress: Called on a thread of the database with the number of documents read. An error that it throws
    ///     ends the build, as a cancelled task does.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func ensureIndex(
        _ name: String? = nil, on paths: KeyValuePairs<String, SortDirection>, unique: Bool = false,
        sparse: Bool = false, caseInsensitive: Bool = false, partialFilter: BSONDocument? = nil,
        maxEntries: Int? = nil, progress: @escaping @Sendable (Database.Progress) throws -> Void = { _ in }
    ) async throws {
        try await ensureIndex(
            name, on: paths.map { Database.IndexKey($0.key, $0.value) }, unique: unique, sparse: sparse,
            caseInsensitive: caseInsensitive, partialFilter: partialFilter, maxEntries: maxEntries,
            progress: progress)
    }

    /// Creates an index with paths that are known at run time only, unless it exists.
    ///
    /// - Parameters:
    ///   - name: Its name; derived from the paths when `nil`.
    ///   - keys: The dotted paths that it sorts documents by, the most significant first.
    ///   - unique: Whether two documents with the same values are rejected.
    ///   - sparse: Whether documents with none of the paths are not indexed.
    ///   - caseInsensitive: Whether it ignores letter case, for case-insensitive queries.
    ///   - partialFilter: A query of comparisons, `$exists`, `$type` and `$begin`, joined by `$and`, `$or`,
    ///     `$nor` and `$not`: other documents are not indexed.
    ///   - maxEntries: How many entries one document may have in the index, by its arrays; 1 to 1,000,000, and 10,000
    ///     when `nil`.
    ///   - progress: Called on a thread of the database with the number of documents read. An error that it throws
    ///     ends the build, as a cancelled task does.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func ensureIndex(
        _ name: String? = nil, on keys: [Database.IndexKey], unique: Bool = false,
        sparse: Bool = false, caseInsensitive: Bool = false, partialFilter: BSONDocument? = nil,
        maxEntries: Int? = nil, progress: @escaping @Sendable (Database.Progress) throws -> Void = { _ in }
    ) async throws {
        try await session.run(.write) { flag in
            try self.ensureIndex(
                name, on: keys, unique: unique, sparse: sparse, caseInsensitive: caseInsensitive,
                partialFilter: partialFilter, maxEntries: maxEntries
            ) { state in
                try progress(state)
                try flag.check()
            }
        }
    }

    /// Drops an index.
    ///
    /// - Parameter name: Its name.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func dropIndex(_ name: String) async throws {
        try await session.runCancellable(.write) { try self.using($0).dropIndex(name) }
    }

    /// The indexes of the collection except that of `_id`. Empty when the collection does not exist.
    ///
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func indexes() async throws -> [Database.IndexInfo] {
        try await session.run(.read) { _ in try self.indexes() }
    }
}
