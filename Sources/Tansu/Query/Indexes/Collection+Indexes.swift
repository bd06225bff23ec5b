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

// MARK: - Async indexes

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

// MARK: - Typed indexes

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
