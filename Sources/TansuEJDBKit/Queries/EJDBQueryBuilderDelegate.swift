public import Tansu

/// *EJDBKit's name* for what makes a query: ``EJDBQueryBuilder`` and ``EJDBFIQueryBuilder``.
public protocol EJDBQueryBuilderDelegate {
    /// The query: conditions, and update operators.
    var query: BSONDocument { get }

    /// The hints: order, limit, skip and fields.
    var hints: BSONDocument { get }

    /// The joins of the query, its `$do`.
    var joins: BSONDocument { get }
}

/// *EJDBKit's name* for a path of an order.
public struct EJDBQueryOrderByHint: Sendable, Hashable {
    /// The dotted path.
    public let path: String

    /// The direction.
    public let direction: SortDirection

    /// A path of an order.
    ///
    /// - Parameters:
    ///   - path: The dotted path.
    ///   - direction: The direction.
    public static func orderPath(_ path: String, direction: SortDirection) -> Self {
        Self(path: path, direction: direction)
    }
}
