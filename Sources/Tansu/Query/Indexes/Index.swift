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
        /// What an index of words has beside its paths; `nil` for other indexes.
        private let text: Result<TextIndexOptions, TansuError>?
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
            only: [String] = [], except: [String] = [], text: Result<TextIndexOptions, TansuError>? = nil,
            paths: @escaping @Sendable (Collection<Element>) throws -> [IndexKey],
            filter: @escaping @Sendable (Collection<Element>) throws -> BSONDocument?
        ) {
            self.name = name
            (isUnique, isSparse, isCaseInsensitive) = (unique, sparse, caseInsensitive)
            self.maxEntries = maxEntries
            (self.only, self.except) = (only, except)
            self.text = text
            self.isByText = isByText
            (self.paths, self.filter) = (paths, filter)
        }

        /// The index as the engine takes it.
        func definition(in collection: Collection<Element>) throws -> IndexDefinition {
            try name?.checkName()
            let keys = try paths(collection)
            if isByText { try collection.rejectPropertyNames(keys.map(\.path)) }
            if isUnique { try UniqueIndex.check(keys, of: Element.self) }
            let text = try text?.get()
            let document = BSONDocument(keys.map { ($0.path, text == nil ? $0.direction.bsonValue : "text") })
            guard document.count == keys.count else {
                throw TansuError(
                    .invalidIndex, "The index has the same path twice; remove one of them",
                    context: name ?? collection.name)
            }
            var options = text?.document ?? [:]
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
            text: info.text.map { .success($0) }, paths: { _ in info.keys }, filter: { _ in info.partialFilter })
        try ensure(index.definition(in: self), declares: false)
    }

    /// Creates an index with keys and options in the engine's form, as other databases have them.
    package func ensureIndex(
        _ name: String?, keys: BSONDocument, options: BSONDocument, progress: (Database.Progress) throws -> Void
    ) throws {
        try name?.checkName()
        try ensure(IndexDefinition(name: name, keys: keys, options: options), declares: false, progress: progress)
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

/// What a unique index cannot do: keep values apart that are stored as arrays, of which it has each element.
enum UniqueIndex {
    /// Checks the paths of a unique index on documents of a type.
    ///
    /// - Throws: ``TansuError`` with `.invalidIndex`.
    static func check(_ keys: [Database.IndexKey], of type: any Any.Type) throws {
        for key in keys {
            guard let property = SwiftKeyPath.propertyType(atPath: key.path, of: type) else { continue }
            try check(property, at: key.path)
        }
    }

    /// Checks the type of a property. Arrays and sets may be in a unique index: no two documents have the same element.
    ///
    /// - Throws: ``TansuError`` with `.invalidIndex`.
    static func check(_ type: any Any.Type, at location: String) throws {
        let type = (type as? any OptionalValue.Type)?.wrappedType ?? type
        guard StoredForm.isTakenApart(type) else { return }
        throw TansuError(
            .invalidIndex,
            "Values of type \"\(type)\" are stored as arrays, and a unique index would compare their elements one by one; store"
                + " them as one value, such as a number, or compare them in a transaction", context: location)
    }
}

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
