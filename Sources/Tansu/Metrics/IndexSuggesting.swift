/// A type of collections that can say how the indexes are created that a query lacked. The collections, which are above the
/// engine's calls, conform to it.
protocol IndexSuggesting: Sendable {
    /// A line of Swift for each of the indexes that an explanation suggests.
    ///
    /// - Parameters:
    ///   - explained: The engine's explanation.
    ///   - collection: The name of the query's collection.
    static func indexLines(_ explained: BSONDocument, in collection: String) -> [String]
}
