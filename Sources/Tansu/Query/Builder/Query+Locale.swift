public import Foundation

extension Database.Query {
    /// All the documents, sorted by a text as people of a language expect: `ä` next to `a`, `Zoe` after `adam`, `file 10`
    /// after `file 9`.
    ///
    /// They are sorted in memory, after all of them were read: an index does not help, and a query's `limit` counts before.
    /// Queries themselves sort text by its Unicode scalars, which is the same everywhere.
    ///
    /// - Parameters:
    ///   - keyPath: The text. What has none comes first.
    ///   - direction: The least or the greatest first.
    ///   - locale: The language.
    /// - Returns: The documents; those with equal texts in the query's order.
    /// - Throws: As `all()`.
    public func all(
        sortedBy keyPath: KeyPath<Element, String>, _ direction: SortDirection = .ascending, locale: Locale
    ) throws -> [Element] {
        try all().sorted(by: { $0[keyPath: keyPath] }, direction, locale)
    }

    /// All the documents, sorted by an optional text as people of a language expect.
    ///
    /// - Parameters:
    ///   - keyPath: The text. What has none comes first.
    ///   - direction: The least or the greatest first.
    ///   - locale: The language.
    /// - Throws: As `all()`.
    public func all(
        sortedBy keyPath: KeyPath<Element, String?>, _ direction: SortDirection = .ascending, locale: Locale
    ) throws -> [Element] {
        try all().sorted(by: { $0[keyPath: keyPath] }, direction, locale)
    }

    /// All the documents, sorted by a text as people of a language expect.
    ///
    /// - Parameters:
    ///   - keyPath: The text.
    ///   - direction: The least or the greatest first.
    ///   - locale: The language.
    ///   - isolation: The actor on which the documents are sorted: the caller's.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func all(
        sortedBy keyPath: KeyPath<Element, String>, _ direction: SortDirection = .ascending, locale: Locale,
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> [Element] {
        try await all().sorted(by: { $0[keyPath: keyPath] }, direction, locale)
    }

    /// All the documents, sorted by an optional text as people of a language expect.
    ///
    /// - Parameters:
    ///   - keyPath: The text. What has none comes first.
    ///   - direction: The least or the greatest first.
    ///   - locale: The language.
    ///   - isolation: The actor on which the documents are sorted: the caller's.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func all(
        sortedBy keyPath: KeyPath<Element, String?>, _ direction: SortDirection = .ascending, locale: Locale,
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> [Element] {
        try await all().sorted(by: { $0[keyPath: keyPath] }, direction, locale)
    }
}

extension Array {
    /// The elements sorted by a text as people of a language expect; stable.
    fileprivate func sorted(
        by text: (Element) -> String?, _ direction: SortDirection, _ locale: Locale
    ) -> [Element] {
        let wanted: ComparisonResult = direction == .ascending ? .orderedAscending : .orderedDescending
        return map { (text($0), $0) }.sorted { a, b in
            guard let first = a.0, let second = b.0 else {
                return direction == .ascending ? a.0 == nil && b.0 != nil : a.0 != nil && b.0 == nil
            }
            return first.compare(second, options: .numeric, range: nil, locale: locale) == wanted
        }.map(\.1)
    }
}
