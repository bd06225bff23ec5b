// The twins of Collection+Reading.swift and Collection+Indexes.swift; what is said there holds here.
extension Database.Collection {
    /// The document with an id, or `nil` when there is none.
    ///
    /// - Parameter id: Its `_id`.
    /// - Throws: As the form that is not async, and `CancellationError`.
    public func get(_ id: some DocumentID) async throws -> Element? {
        try await session.suspend(.read) { _ in try self.get(id) }
    }

    /// How many documents match.
    ///
    /// - Parameters:
    ///   - query: Which documents; all when empty.
    ///   - hints: How; `$skip` and `$max` count too.
    /// - Throws: As the form that is not async, and `CancellationError`.
    public func count(_ query: BSONDocument = [:], hints: BSONDocument = [:]) async throws -> Int {
        try await find(query, hints: hints).count()
    }

    /// Creates an index, over the documents that are there and those to come, unless it is there.
    ///
    /// - Parameters:
    ///   - name: What it is called; made from the paths when `nil`.
    ///   - paths: The dotted paths that it orders documents by, the first first.
    ///   - unique: Whether no two documents may have the same values.
    ///   - sparse: Whether documents that have none of the paths are left out.
    ///   - caseInsensitive: Whether letter case does not matter, for the queries that ask for that.
    ///   - partialFilter: A query of comparisons, `$in`, `$nin`, `$exists` and `$begin`, joined by `$and`, `$or`,
    ///     `$nor` and `$not`: other documents are left out.
    ///   - progress: Told, on a thread of the database's own, how many documents are read; what it throws ends the
    ///     building, as a cancelled task does.
    /// - Throws: As the form that is not async, and `CancellationError`.
    public func ensureIndex(
        _ name: String? = nil, on paths: KeyValuePairs<String, SortDirection>, unique: Bool = false,
        sparse: Bool = false, caseInsensitive: Bool = false, partialFilter: BSONDocument? = nil,
        progress: @escaping @Sendable (Database.Progress) throws -> Void = { _ in }
    ) async throws {
        try await ensureIndex(
            name, on: paths.map { Database.IndexKey($0.key, $0.value) }, unique: unique, sparse: sparse,
            caseInsensitive: caseInsensitive, partialFilter: partialFilter, progress: progress)
    }

    /// Creates an index whose paths are known at run time only, unless it is there.
    ///
    /// - Parameters:
    ///   - name: What it is called; made from the paths when `nil`.
    ///   - keys: The dotted paths that it orders documents by, the first first.
    ///   - unique: Whether no two documents may have the same values.
    ///   - sparse: Whether documents that have none of the paths are left out.
    ///   - caseInsensitive: Whether letter case does not matter, for the queries that ask for that.
    ///   - partialFilter: A query of comparisons, `$in`, `$nin`, `$exists` and `$begin`, joined by `$and`, `$or`,
    ///     `$nor` and `$not`: other documents are left out.
    ///   - progress: Told, on a thread of the database's own, how many documents are read; what it throws ends the
    ///     building, as a cancelled task does.
    /// - Throws: As the form that is not async, and `CancellationError`.
    public func ensureIndex(
        _ name: String? = nil, on keys: [Database.IndexKey], unique: Bool = false,
        sparse: Bool = false, caseInsensitive: Bool = false, partialFilter: BSONDocument? = nil,
        progress: @escaping @Sendable (Database.Progress) throws -> Void = { _ in }
    ) async throws {
        try await session.suspend(.write) { flag in
            try self.ensureIndex(
                name, on: keys, unique: unique, sparse: sparse, caseInsensitive: caseInsensitive,
                partialFilter: partialFilter
            ) { state in
                try progress(state)
                try flag.check()
            }
        }
    }

    /// Drops an index.
    ///
    /// - Parameter name: What it is called.
    /// - Throws: As the form that is not async, and `CancellationError`.
    public func dropIndex(_ name: String) async throws {
        try await session.suspend(.write) { _ in try self.dropIndex(name) }
    }

    /// The collection's indexes but that of `_id`. None when the collection does not exist.
    ///
    /// - Throws: As the form that is not async, and `CancellationError`.
    public func indexes() async throws -> [Database.IndexInfo] {
        try await session.suspend(.read) { _ in try self.indexes() }
    }
}
