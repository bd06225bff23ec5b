extension Database.Index {
    /// A wildcard index: an index on every path of every document, or on those below one path.
    ///
    /// For example:
    ///
    /// ```swift
    /// let people = try db.collection("people", of: Person.self, indexes: [.wildcard(except: ["photo"])])
    /// ```
    ///
    /// - Parameters:
    ///   - name: Its name; derived from the path when `nil`.
    ///   - path: The dotted path at and below which values are indexed; the whole document when `nil`.
    ///   - only: The dotted paths that are indexed, with all below them; all when empty.
    ///   - except: The dotted paths that are left out, with all below them.
    ///   - caseInsensitive: Whether it ignores letter case, for case-insensitive queries.
    ///   - partialFilter: A query as for `ensureIndex`: other documents are not indexed.
    ///   - maxEntries: How many entries one document may have in the index; 1 to 1,000,000, and 10,000 when `nil`.
    public static func wildcard(
        _ name: String? = nil, below path: String? = nil, only: [String] = [], except: [String] = [],
        caseInsensitive: Bool = false, partialFilter: BSONDocument? = nil, maxEntries: Int? = nil
    ) -> Self {
        let keys = [Database.IndexKey(path.map { $0 + ".**" } ?? "**")]
        return Self(
            name, unique: false, sparse: false, caseInsensitive: caseInsensitive, maxEntries: maxEntries,
            isByText: false, only: only, except: except, paths: { _ in keys }, filter: { _ in partialFilter })
    }
}

extension Database.Collection {
    /// Creates a wildcard index, which serves conditions on any path, unless it exists.
    ///
    /// For example:
    ///
    /// ```swift
    /// try people.ensureWildcardIndex()
    /// try people.ensureWildcardIndex("settings", below: "settings", except: ["settings.log"])
    /// ```
    ///
    /// - Parameters:
    ///   - name: Its name; derived from the path when `nil`.
    ///   - path: The dotted path at and below which values are indexed; the whole document when `nil`.
    ///   - only: The dotted paths that are indexed, with all below them; all when empty.
    ///   - except: The dotted paths that are left out, with all below them.
    ///   - caseInsensitive: Whether it ignores letter case, for case-insensitive queries.
    ///   - partialFilter: A query as for `ensureIndex`: other documents are not indexed.
    ///   - maxEntries: How many entries one document may have in the index; 1 to 1,000,000, and 10,000 when `nil`.
    ///   - progress: Called on this thread with the number of documents read. An error that it throws ends the build
    ///     and is rethrown; no index is created. It may use the database but not close it.
    /// - Throws: As `ensureIndex(_:on:unique:sparse:caseInsensitive:partialFilter:maxEntries:progress:)`.
    public func ensureWildcardIndex(
        _ name: String? = nil, below path: String? = nil, only: [String] = [], except: [String] = [],
        caseInsensitive: Bool = false, partialFilter: BSONDocument? = nil, maxEntries: Int? = nil,
        progress: (Database.Progress) throws -> Void = { _ in }
    ) throws {
        let index = Database.Index<Element>.wildcard(
            name, below: path, only: only, except: except, caseInsensitive: caseInsensitive,
            partialFilter: partialFilter, maxEntries: maxEntries)
        try ensure(index.definition(in: self), declares: false, progress: progress)
    }

    /// Creates a wildcard index, which serves conditions on any path, unless it exists.
    ///
    /// - Parameters:
    ///   - name: Its name; derived from the path when `nil`.
    ///   - path: The dotted path at and below which values are indexed; the whole document when `nil`.
    ///   - only: The dotted paths that are indexed, with all below them; all when empty.
    ///   - except: The dotted paths that are left out, with all below them.
    ///   - caseInsensitive: Whether it ignores letter case, for case-insensitive queries.
    ///   - partialFilter: A query as for `ensureIndex`: other documents are not indexed.
    ///   - maxEntries: How many entries one document may have in the index; 1 to 1,000,000, and 10,000 when `nil`.
    ///   - progress: Called on a thread of the database with the number of documents read. An error that it throws
    ///     ends the build, as a cancelled task does.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func ensureWildcardIndex(
        _ name: String? = nil, below path: String? = nil, only: [String] = [], except: [String] = [],
        caseInsensitive: Bool = false, partialFilter: BSONDocument? = nil, maxEntries: Int? = nil,
        progress: @escaping @Sendable (Database.Progress) throws -> Void = { _ in }
    ) async throws {
        try await session.run(.write) { flag in
            try self.ensureWildcardIndex(
                name, below: path, only: only, except: except, caseInsensitive: caseInsensitive,
                partialFilter: partialFilter, maxEntries: maxEntries
            ) { state in
                try progress(state)
                try flag.check()
            }
        }
    }
}
