public import Tansu

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

/// What is computed of the documents that refer to another one, for `annotated(with:)`.
public struct Annotation<Root: Codable & Sendable & Identifiable, Value: Sendable>: Sendable
where Root.ID: Codable & Hashable & Sendable {
    let loading: Loading<Root, Value>

    /// How many documents refer to it by a property of their type.
    ///
    /// - Parameters:
    ///   - keyPath: The property.
    ///   - condition: Which of them count; all without it.
    public static func count<Other: Codable & Sendable, Property: ReferenceProperty<Root>>(
        _ keyPath: KeyPath<Other, Property>,
        where condition: (@Sendable (Database.Field<Other>) -> Database.Condition)? = nil
    ) -> Self where Value == Int {
        Self(
            loading: Associated.referring(keyPath, .roots) { query in
                try condition.map { try query.and($0) } ?? query
            }.mapped { $0.count })
    }

    /// An aggregate of the documents that refer to it by a property of their type: `.of(\Book.author, .sum(\.pages))`. `nil`
    /// where there are none.
    ///
    /// - Parameters:
    ///   - keyPath: The property, a reference to one document.
    ///   - aggregate: What is computed.
    public static func of<Other: Codable & Sendable, Result: Sendable, Property: ToOneReference<Root> & Codable>(
        _ keyPath: KeyPath<Other, Property>, _ aggregate: Database.Aggregate<Other, Result>
    ) -> Self where Value == Result? {
        nonisolated(unsafe) let keyPath = keyPath
        return Self(
            loading: Loading { session, roots in
                let groups = try Associated.referrers(to: roots, by: keyPath, in: session).groups(
                    by: .value(keyPath), computing: aggregate)
                var numbers = IDNumbers<Root.ID>()
                for (number, root) in roots.enumerated() where numbers[root.id] == nil { numbers[root.id] = number }
                var results = [Result?](repeating: nil, count: roots.count)
                for (property, result) in groups {
                    property.forEachID { id in numbers[id].map { results[$0] = result } }
                }
                return roots.map { root in numbers[root.id].flatMap { results[$0] } }
            })
    }
}
