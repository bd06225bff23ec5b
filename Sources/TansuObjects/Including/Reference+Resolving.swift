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
    /// Ids that are equal in Swift, and differ as they are stored, would be one key: text that is canonically equivalent.
    /// Both at once are an error; `including` and `resolve(in:)` tell them apart.
    ///
    /// ```swift
    /// let authors = try books.map(\.author).resolved(in: db)
    /// for book in books { print(book.title, authors[book.author.id]?.name ?? "") }
    /// ```
    ///
    /// - Parameter source: A database or a transaction.
    /// - Throws: As `resolve(in:)` of a reference, and `TansuError` with `.invalidArgument`: two ids would be one key.
    public func resolved(
        in source: some ObjectSource
    ) throws -> [Element.ReferenceTarget.ID: Element.ReferenceTarget] {
        let targets = try source.collection(of: Element.ReferenceTarget.self)
        return Self.byID(try targets.get(ids: ids(in: targets)))
    }

    /// The documents that the references refer to, by their ids.
    ///
    /// - Parameter source: A database or a transaction.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func resolved(
        in source: some ObjectSource
    ) async throws -> [Element.ReferenceTarget.ID: Element.ReferenceTarget] {
        let targets = try source.collection(of: Element.ReferenceTarget.self)
        let ids = try ids(in: targets)
        return Self.byID(try await targets.get(ids: ids))
    }

    private func ids(
        in targets: Database.Collection<Element.ReferenceTarget>
    ) throws -> Set<Element.ReferenceTarget.ID> {
        var ids: Set<Element.ReferenceTarget.ID> = []
        var failure: (any Error)?
        for element in self {
            element.forEachID { id in
                let (isNew, known) = ids.insert(id)
                guard !isNew, failure == nil else { return }
                do {
                    let (stored, other) = try (targets.storedID(id), targets.storedID(known))
                    guard stored != other else { return }
                    throw TansuError(
                        .invalidArgument,
                        "Two references are to the ids \(stored) and \(other), which are one key of a dictionary; resolve each"
                            + " of them with resolve(in:)", context: targets.name)
                } catch {
                    failure = error
                }
            }
        }
        if let failure { throw failure }
        return ids
    }

    private static func byID(_ targets: [Element.ReferenceTarget]) -> [Element.ReferenceTarget.ID: Element
        .ReferenceTarget]
    {
        Dictionary(targets.map { ($0.id, $0) }) { first, _ in first }
    }
}
