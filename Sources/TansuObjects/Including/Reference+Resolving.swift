import Tansu

extension Reference where Target: Codable & Sendable {
    /// The document that it refers to; `nil` where there is none.
    ///
    /// For many references, `resolved(in:)` of a sequence is one batch.
    ///
    /// - Parameter source: A database or a transaction, used with a ``Model`` that has the type.
    /// - Throws: As `get` of a collection; `TansuError` with `.invalidState` (no model) or `.invalidArgument` (the model does
    ///   not have the type).
    public func resolve(in source: some ObjectSource) throws -> Target? {
        try source.collection(of: Target.self).get(id)
    }

    /// The document that it refers to; `nil` where there is none.
    ///
    /// - Parameter source: A database or a transaction.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func resolve(in source: some ObjectSource) async throws -> Target? {
        try await source.collection(of: Target.self).get(id)
    }

    /// The document that it refers to: `try book.author(in: db)`.
    ///
    /// - Parameter source: A database or a transaction.
    /// - Throws: As `resolve(in:)`.
    public func callAsFunction(in source: some ObjectSource) throws -> Target? {
        try resolve(in: source)
    }

    /// The document that it refers to: `try await book.author(in: db)`.
    ///
    /// - Parameter source: A database or a transaction.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func callAsFunction(in source: some ObjectSource) async throws -> Target? {
        try await resolve(in: source)
    }
}

extension Sequence where Element: ReferenceProperty, Element.ReferenceTarget: Codable & Sendable {
    /// The documents that the references refer to, by their ids: one batch, in one snapshot. What does not exist is left
    /// out.
    ///
    /// Ids that are equal in Swift, and differ as they are stored, are one key: text that is canonically equivalent.
    /// For `including` and `resolve(in:)` they are different ids.
    ///
    /// ```swift
    /// let authors = try books.map(\.author).resolved(in: db)
    /// for book in books { print(book.title, authors[book.author.id]?.name ?? "") }
    /// ```
    ///
    /// - Parameter source: A database or a transaction.
    /// - Throws: As `resolve(in:)` of a reference.
    public func resolved(
        in source: some ObjectSource
    ) throws -> [Element.ReferenceTarget.ID: Element.ReferenceTarget] {
        Self.byID(try source.collection(of: Element.ReferenceTarget.self).get(ids: ids))
    }

    /// The documents that the references refer to, by their ids.
    ///
    /// - Parameter source: A database or a transaction.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func resolved(
        in source: some ObjectSource
    ) async throws -> [Element.ReferenceTarget.ID: Element.ReferenceTarget] {
        let ids = ids
        return Self.byID(try await source.collection(of: Element.ReferenceTarget.self).get(ids: ids))
    }

    private var ids: Set<Element.ReferenceTarget.ID> {
        var ids: Set<Element.ReferenceTarget.ID> = []
        for element in self { element.forEachID { ids.insert($0) } }
        return ids
    }

    private static func byID(_ targets: [Element.ReferenceTarget]) -> [Element.ReferenceTarget.ID: Element
        .ReferenceTarget]
    {
        Dictionary(targets.map { ($0.id, $0) }) { first, _ in first }
    }
}
