/// The direction of a sort, or of one path of an index.
public enum SortDirection: Sendable, Hashable, CaseIterable {
    /// The least first.
    case ascending

    /// The greatest first.
    case descending

    /// Its value in a document: 1 or -1.
    var bsonValue: BSONValue { self == .ascending ? 1 : -1 }
}
