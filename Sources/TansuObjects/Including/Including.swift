import Tansu

/// A query whose results come with what they refer to, or with what refers to them: one batch for each level, all in
/// one snapshot.
///
/// ```swift
/// let shelf = try books.find { $0.year > 1970 }.including(\.author).including(all: \.tags)
/// for (book, author, tags) in try shelf.all() { … }
/// ```
///
/// The types are those of the ``Model`` with which the database is used.
public struct Including<Root: Codable & Sendable, Value: Sendable>: Sendable {
    /// The query; `nil` where it is about the documents that others refer to.
    let query: Database.Query<Root>?
    let loading: Loading<Root, Value>

    /// The documents that others refer to, with nothing else yet.
    static var start: Including<Root, Root> { Including<Root, Root>(query: nil, loading: .roots) }

    func adding<each Part: Sendable, Other: Sendable>(
        _ other: Loading<Root, Other>
    ) -> Including<Root, (repeat each Part, Other)> where Value == (repeat each Part) {
        Including<Root, (repeat each Part, Other)>(query: query, loading: loading.adding(other))
    }
}

extension Including {
    /// All results, in the order of the query.
    ///
    /// - Throws: As `all()` of a query; `TansuError` with `.invalidState` (no model) or `.invalidArgument` (a type that the
    ///   model does not have).
    public func all() throws -> [Value] {
        try source.session.inSnapshot { session in try loading.load(session, source.using(session).all()) }
    }

    /// All results, in the order of the query.
    ///
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func all() async throws -> [Value] {
        let (query, loading) = (try source, loading)
        return try await query.session.runCancellable(.read) { session in
            try session.inSnapshot { session in try loading.load(session, query.using(session).all()) }
        }
    }

    /// The first result, or `nil` when there is none.
    ///
    /// - Throws: As `all()`.
    public func first() throws -> Value? {
        try limited().all().first
    }

    /// The first result, or `nil` when there is none.
    ///
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func first() async throws -> Value? {
        try await limited().all().first
    }

    private func limited() throws -> Self {
        let query = try source
        guard query.hints["$max"] == nil, query.hints["$limit"] == nil else { return self }
        return Self(query: query.limit(1), loading: loading)
    }

    private var source: Database.Query<Root> {
        get throws {
            if let query { return query }
            throw TansuError(
                .invalidState, "What is included for other documents has no results of its own; ask the outer query")
        }
    }
}
