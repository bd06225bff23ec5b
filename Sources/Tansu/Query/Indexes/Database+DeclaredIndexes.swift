extension Database {
    /// The collection with a name, of values of a Codable type, with its indexes.
    ///
    /// For example:
    ///
    /// ```swift
    /// let people = try db.collection(
    ///     "people", of: Person.self,
    ///     indexes: [
    ///         Database.Index(on: \.mail, unique: true, sparse: true),
    ///         Database.Index("by_name", on: \.name, \.age, directions: [.ascending, .descending]),
    ///     ])
    /// ```
    ///
    /// As long as this database is open, the collection has these indexes: those that are missing are built now, and
    /// whenever the collection is created, by a first save, in a transaction or after it was dropped or renamed, they
    /// are created with it. Dropping an index by its name ends that, unless the transaction is rolled back. Indexes that
    /// are not declared stay.
    ///
    /// A read-only database gets no indexes, and its queries work without them.
    ///
    /// - Parameters:
    ///   - name: 1 to 120 bytes.
    ///   - type: What its documents are decoded as.
    ///   - coding: How dates and other values are stored; see ``Collection/coding(_:)``.
    ///   - indexes: Its indexes.
    /// - Throws: ``TansuError`` with `.notUnique` (existing documents violate a unique index), `.exists` (the name of an
    ///   index with another definition), `.invalidName`, `.invalidIndex`, `.invalidQuery` (the stored name of a property
    ///   is not known), or what a commit can throw.
    public func collection<Element: Codable & Sendable>(
        _ name: String, of type: Element.Type, coding: BSONCodingStrategies = BSONCodingStrategies(),
        indexes: [Index<Element>]
    ) throws -> Collection<Element> {
        try collection(name, of: type, coding: coding).declaring(indexes)
    }

    /// The collection with a name, of documents, with its indexes; as for a Codable type.
    ///
    /// - Parameters:
    ///   - name: 1 to 120 bytes.
    ///   - indexes: Its indexes.
    /// - Throws: As the variant for a Codable type.
    public func collection(_ name: String, indexes: [Index<BSONDocument>]) throws -> Collection<BSONDocument> {
        try collection(name).declaring(indexes)
    }

    /// The collection with a name, of values of a Codable type, with its indexes.
    ///
    /// - Parameters:
    ///   - name: 1 to 120 bytes.
    ///   - type: What its documents are decoded as.
    ///   - coding: How dates and other values are stored; see ``Collection/coding(_:)``.
    ///   - indexes: Its indexes.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func collection<Element: Codable & Sendable>(
        _ name: String, of type: Element.Type, coding: BSONCodingStrategies = BSONCodingStrategies(),
        indexes: [Index<Element>]
    ) async throws -> Collection<Element> {
        try await collection(name, of: type, coding: coding).declaring(indexes)
    }

    /// The collection with a name, of documents, with its indexes.
    ///
    /// - Parameters:
    ///   - name: 1 to 120 bytes.
    ///   - indexes: Its indexes.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func collection(_ name: String, indexes: [Index<BSONDocument>]) async throws -> Collection<BSONDocument> {
        try await collection(name).declaring(indexes)
    }
}

extension Database.Transaction {
    /// The collection with a name, of values of a Codable type, with its indexes; see
    /// `collection(_:of:coding:indexes:)` of ``Database``.
    ///
    /// Those that are missing are built in this transaction. In a savepoint that throws `.invalidState`, unless the
    /// collection is new.
    ///
    /// - Parameters:
    ///   - name: 1 to 120 bytes.
    ///   - type: What its documents are decoded as.
    ///   - coding: How dates and other values are stored; see ``Database/Collection/coding(_:)``.
    ///   - indexes: Its indexes.
    /// - Throws: As outside a transaction, and `.invalidState`.
    public func collection<Element: Codable & Sendable>(
        _ name: String, of type: Element.Type, coding: BSONCodingStrategies = BSONCodingStrategies(),
        indexes: [Database.Index<Element>]
    ) throws -> Database.Collection<Element> {
        try collection(name, of: type, coding: coding).declaring(indexes)
    }
}

extension Database.Collection {
    fileprivate func declaring(_ indexes: [Database.Index<Element>]) throws -> Self {
        for index in try definitions(indexes) { try ensure(index, declares: true) }
        return self
    }

    fileprivate func declaring(_ indexes: [Database.Index<Element>]) async throws -> Self {
        let definitions = try definitions(indexes)
        try await session.run(.write) { flag in
            for index in definitions {
                try self.ensure(index, declares: true) { _ in try flag.check() }
            }
        }
        return self
    }

    private func definitions(_ indexes: [Database.Index<Element>]) throws -> [IndexDefinition] {
        try indexes.map { try $0.definition(in: self) }
    }
}

/// An index that would have made a query faster.
struct IndexSuggestion {
    let collection: String
    let keys: [Database.IndexKey]
    /// The type of the collection's documents; `nil` when it is not known.
    let documentType: (any Any.Type)?

    /// Those that an explanation has: for the query's collection, and for those of its subqueries. `type` is that of a
    /// collection's documents.
    static func all(
        _ explained: BSONDocument, in collection: String, type: (String) -> (any Any.Type)?
    ) -> [IndexSuggestion] {
        let own = explained["suggestion"]?.documentValue.map {
            IndexSuggestion(collection: collection, keys: Database.IndexKey.keys($0), documentType: type(collection))
        }
        let subqueries = explained["subqueries"]?.arrayValue?.compactMap(\.documentValue) ?? []
        return (own.map { [$0] } ?? [])
            + subqueries.flatMap { all($0, in: $0["collection"]?.stringValue ?? "", type: type) }
    }

    /// The line of Swift that creates it, with key paths where the documents have a type that has them.
    var line: String {
        let name = collection.debugDescription
        if let (type, keyPaths) = typed {
            let descending = keys.lastIndex { $0.direction == .descending }
            let directions = descending.map { keys[...$0].map(\.swift).joined(separator: ", ") }
            let arguments = keyPaths.joined(separator: ", ") + (directions.map { ", directions: [\($0)]" } ?? "")
            return "try db.collection(\(name), of: \(type).self).ensureIndex(on: \(arguments))"
        }
        let paths = keys.map { "\($0.path.debugDescription): \($0.swift)" }.joined(separator: ", ")
        return "try db.collection(\(name)).ensureIndex(on: [\(paths)])"
    }

    /// The name of the type and a key path for each key.
    private var typed: (type: String, keyPaths: [String])? {
        guard let documentType, let name = SwiftKeyPath.name(of: documentType) else { return nil }
        let keyPaths = keys.compactMap { SwiftKeyPath.text(ofPath: $0.path, in: documentType) }
        return keyPaths.count == keys.count ? (name, keyPaths) : nil
    }
}

extension Database.IndexKey {
    /// The direction in Swift.
    fileprivate var swift: String { direction == .descending ? ".descending" : ".ascending" }
}
