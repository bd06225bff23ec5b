extension Database.Collection {
    /// Creates an index over all existing and future documents, unless it exists.
    ///
    /// For example:
    ///
    /// ```swift
    /// try people.ensureIndex("by_name", on: ["name": .ascending, "age": .descending])
    /// try people.ensureIndex("by_mail", on: ["mail": .ascending], unique: true, sparse: true)
    /// ```
    ///
    /// Outside a transaction, others read and write while the index is built, and `progress` is called regularly. In a
    /// transaction it is not called.
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
    ///   - progress: Called on this thread with the number of documents read. An error that it throws ends the build
    ///     and is rethrown; no index is created. It may use the database but not close it.
    /// - Throws: ``TansuError`` with `.invalidName`, `.invalidIndex`, `.exists` (the name with another definition),
    ///   `.notUnique`, `.tooLarge`, or what a commit can throw; what `progress` throws.
    public func ensureIndex(
        _ name: String? = nil, on paths: KeyValuePairs<String, SortDirection>, unique: Bool = false,
        sparse: Bool = false, caseInsensitive: Bool = false, partialFilter: BSONDocument? = nil,
        maxEntries: Int? = nil, progress: (Database.Progress) throws -> Void = { _ in }
    ) throws {
        try ensureIndex(
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
    ///   - progress: Called on this thread with the number of documents read. An error that it throws ends the build
    ///     and is rethrown; no index is created. It may use the database but not close it.
    /// - Throws: As the variant that takes a literal.
    public func ensureIndex(
        _ name: String? = nil, on keys: [Database.IndexKey], unique: Bool = false,
        sparse: Bool = false, caseInsensitive: Bool = false, partialFilter: BSONDocument? = nil,
        maxEntries: Int? = nil, progress: (Database.Progress) throws -> Void = { _ in }
    ) throws {
        let index = Database.Index<Element>(
            name, on: keys, unique: unique, sparse: sparse, caseInsensitive: caseInsensitive,
            partialFilter: partialFilter, maxEntries: maxEntries)
        try ensure(index.definition(in: self), declares: false, progress: progress)
    }

    /// Drops an index.
    ///
    /// - Parameter name: Its name.
    /// - Throws: ``TansuError`` with `.notFound`, or what a commit can throw.
    public func dropIndex(_ name: String) throws {
        try name.checkName()
        try session.checkMayWrite()
        try session.engine.dropIndex(name, of: self.name)
    }

    /// The indexes of the collection except that of `_id`. Empty when the collection does not exist.
    ///
    /// - Throws: ``TansuError`` with `.closed`.
    public func indexes() throws -> [Database.IndexInfo] {
        do {
            return try indexDocuments().map(Database.IndexInfo.init)
        } catch let error as TansuError where error.code == .notFound {
            return []
        }
    }

    /// The engine's descriptions of the indexes.
    package func indexDocuments() throws -> [BSONDocument] {
        try session.engine.indexList(of: name)["indexes"]?.arrayValue?.compactMap(\.documentValue) ?? []
    }
}
