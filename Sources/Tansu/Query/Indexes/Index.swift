extension Database {
    /// The declaration of an index, with the collection that has it.
    ///
    /// For example:
    ///
    /// ```swift
    /// let people = try db.collection(
    ///     "people", of: Person.self,
    ///     indexes: [
    ///         Database.Index("by_mail", on: \.mail, unique: true, sparse: true),
    ///         Database.Index("by_name", on: \.name, \.age, directions: [.ascending, .descending]),
    ///         Database.Index("by_city", on: ["address.city": .ascending]),
    ///     ])
    /// ```
    public struct Index<Element: Sendable>: Sendable {
        let name: String?
        private let isUnique: Bool
        private let isSparse: Bool
        private let isCaseInsensitive: Bool
        private let maxEntries: Int?
        /// The paths of a wildcard index: those that it has, all when empty, and those that it leaves out.
        private let only: [String]
        private let except: [String]
        /// Whether the paths were given as text, so that they may be names of properties.
        private let isByText: Bool
        private let paths: @Sendable (Collection<Element>) throws -> [IndexKey]
        private let filter: @Sendable (Collection<Element>) throws -> BSONDocument?

        /// An index over dotted paths.
        ///
        /// - Parameters:
        ///   - name: Its name; derived from the paths when `nil`.
        ///   - paths: The dotted paths that it sorts documents by, the most significant first.
        ///   - unique: Whether two documents with the same values are rejected.
        ///   - sparse: Whether documents with none of the paths are not indexed.
        ///   - caseInsensitive: Whether it ignores letter case, for case-insensitive queries.
        ///   - partialFilter: A query as for `ensureIndex`: other documents are not indexed.
        ///   - maxEntries: How many entries one document may have in the index, by its arrays; 1 to 1,000,000, and 10,000
        ///     when `nil`.
        public init(
            _ name: String? = nil, on paths: KeyValuePairs<String, SortDirection>, unique: Bool = false,
            sparse: Bool = false, caseInsensitive: Bool = false, partialFilter: BSONDocument? = nil,
            maxEntries: Int? = nil
        ) {
            self.init(
                name, on: paths.map { IndexKey($0.key, $0.value) }, unique: unique, sparse: sparse,
                caseInsensitive: caseInsensitive, partialFilter: partialFilter, maxEntries: maxEntries)
        }

        /// An index over paths that are known at run time only.
        ///
        /// - Parameters:
        ///   - name: Its name; derived from the paths when `nil`.
        ///   - keys: The dotted paths that it sorts documents by, the most significant first.
        ///   - unique: Whether two documents with the same values are rejected.
        ///   - sparse: Whether documents with none of the paths are not indexed.
        ///   - caseInsensitive: Whether it ignores letter case, for case-insensitive queries.
        ///   - partialFilter: A query as for `ensureIndex`: other documents are not indexed.
        ///   - maxEntries: How many entries one document may have in the index, by its arrays; 1 to 1,000,000, and 10,000
        ///     when `nil`.
        public init(
            _ name: String? = nil, on keys: [IndexKey], unique: Bool = false, sparse: Bool = false,
            caseInsensitive: Bool = false, partialFilter: BSONDocument? = nil,
            maxEntries: Int? = nil
        ) {
            self.init(
                name, unique: unique, sparse: sparse, caseInsensitive: caseInsensitive, maxEntries: maxEntries,
                isByText: true,
                paths: { _ in keys },
                filter: { collection in try partialFilter.map { try collection.stored($0, [:]).0 } })
        }

        init(
            _ name: String?, unique: Bool, sparse: Bool, caseInsensitive: Bool, maxEntries: Int?, isByText: Bool,
            only: [String] = [], except: [String] = [],
            paths: @escaping @Sendable (Collection<Element>) throws -> [IndexKey],
            filter: @escaping @Sendable (Collection<Element>) throws -> BSONDocument?
        ) {
            self.name = name
            (isUnique, isSparse, isCaseInsensitive) = (unique, sparse, caseInsensitive)
            self.maxEntries = maxEntries
            (self.only, self.except) = (only, except)
            self.isByText = isByText
            (self.paths, self.filter) = (paths, filter)
        }

        /// The index as the engine takes it.
        func definition(in collection: Collection<Element>) throws -> IndexDefinition {
            try name?.checkName()
            let keys = try paths(collection)
            if isByText { try collection.rejectPropertyNames(keys.map(\.path)) }
            if isUnique { try UniqueIndex.check(keys, of: Element.self) }
            let document = BSONDocument(keys.map { ($0.path, $0.direction.bsonValue) })
            guard document.count == keys.count else {
                throw TansuError(
                    .invalidIndex, "The index has the same path twice; remove one of them",
                    context: name ?? collection.name)
            }
            var options: BSONDocument = [:]
            if isUnique { options["unique"] = true }
            if isSparse { options["sparse"] = true }
            if isCaseInsensitive { options["caseInsensitive"] = true }
            if let filter = try filter(collection) { options["partialFilter"] = .document(filter) }
            if let maxEntries { options["maxEntries"] = BSONValue(maxEntries) }
            if !only.isEmpty { options["only"] = BSONValue(only.map { .string($0) }) }
            if !except.isEmpty { options["except"] = BSONValue(except.map { .string($0) }) }
            return IndexDefinition(name: name, keys: document, options: options)
        }
    }
}

extension Database.Collection {
    /// Creates an index as its description says.
    package func ensureIndex(like info: Database.IndexInfo) throws {
        let index = Database.Index<Element>(
            info.name, unique: info.isUnique, sparse: info.isSparse, caseInsensitive: info.isCaseInsensitive,
            maxEntries: info.maxEntries, isByText: true, only: info.only, except: info.except,
            paths: { _ in info.keys }, filter: { _ in info.partialFilter })
        try ensure(index.definition(in: self), declares: false)
    }

    /// Creates an index unless it exists.
    ///
    /// - Parameter declares: Whether it is created whenever the collection is, and now only if the collection exists.
    func ensure(
        _ index: IndexDefinition, declares: Bool, progress: (Database.Progress) throws -> Void = { _ in }
    ) throws {
        try session.checkMayWrite()
        try session.engine.ensureIndex(index, of: name, declares: declares, progress: progress)
    }
}
