extension Database.Collection {
    /// Creates an index, over the documents that are there and those to come, unless it is there.
    ///
    /// For example:
    ///
    /// ```swift
    /// try people.ensureIndex("by_name", on: ["name": .ascending, "age": .descending])
    /// try people.ensureIndex("by_mail", on: ["mail": .ascending], unique: true, sparse: true)
    /// ```
    ///
    /// Outside a transaction, others go on reading and writing while a collection in use is indexed, and `progress`
    /// hears now and then how many of its documents are read. In a transaction it hears nothing.
    ///
    /// - Parameters:
    ///   - name: What it is called; made from the paths when `nil`.
    ///   - paths: The dotted paths that it orders documents by, the first first.
    ///   - unique: Whether no two documents may have the same values.
    ///   - sparse: Whether documents that have none of the paths are left out.
    ///   - caseInsensitive: Whether letter case does not matter, for the queries that ask for that.
    ///   - partialFilter: A query of comparisons, `$in`, `$nin`, `$exists` and `$begin`, joined by `$and`, `$or`,
    ///     `$nor` and `$not`: other documents are left out.
    ///   - progress: Told, on this thread, how many documents are read. What it throws ends the building, which
    ///     leaves nothing behind, and is thrown on. It may use the database but not close it.
    /// - Throws: ``TansuError`` with `.invalidName`, `.invalidIndex`, `.exists` (the name with another definition),
    ///   `.notUnique`, `.tooLarge`, or what a commit can throw; what `progress` throws.
    public func ensureIndex(
        _ name: String? = nil, on paths: KeyValuePairs<String, SortDirection>, unique: Bool = false,
        sparse: Bool = false, caseInsensitive: Bool = false, partialFilter: BSONDocument? = nil,
        progress: (Database.Progress) throws -> Void = { _ in }
    ) throws {
        try ensureIndex(
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
    ///   - progress: Told, on this thread, how many documents are read. What it throws ends the building, which
    ///     leaves nothing behind, and is thrown on. It may use the database but not close it.
    /// - Throws: As the form that takes a literal.
    public func ensureIndex(
        _ name: String? = nil, on keys: [Database.IndexKey], unique: Bool = false,
        sparse: Bool = false, caseInsensitive: Bool = false, partialFilter: BSONDocument? = nil,
        progress: (Database.Progress) throws -> Void = { _ in }
    ) throws {
        try name?.checkName()
        var options: BSONDocument = [:]
        if unique { options["unique"] = true }
        if sparse { options["sparse"] = true }
        if caseInsensitive { options["caseInsensitive"] = true }
        if let partialFilter { options["partialFilter"] = .document(partialFilter) }
        let document = BSONDocument(keys.map { ($0.path, $0.direction.bsonValue) })
        guard document.count == keys.count else {
            throw TansuError(.invalidIndex, "the same path stands twice in the index", context: name ?? self.name)
        }
        try session.writing().ensureIndex(
            name, on: document, options: options, of: self.name, progress: progress)
    }

    /// Drops an index.
    ///
    /// - Parameter name: What it is called.
    /// - Throws: ``TansuError`` with `.notFound`, or what a commit can throw.
    public func dropIndex(_ name: String) throws {
        try name.checkName()
        try session.writing().dropIndex(name, of: self.name)
    }

    /// The collection's indexes but that of `_id`. None when the collection does not exist.
    ///
    /// - Throws: ``TansuError`` with `.closed`.
    public func indexes() throws -> [Database.IndexInfo] {
        do {
            let list = try session.reading.indexList(of: name)
            return list["indexes"]?.arrayValue?.compactMap(\.documentValue).map(Database.IndexInfo.init) ?? []
        } catch let error as TansuError where error.code == .notFound {
            return []
        }
    }
}
