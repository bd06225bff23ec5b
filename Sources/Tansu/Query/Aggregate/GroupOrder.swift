extension Database {
    /// What groups are sorted by: an aggregate, or one of their keys.
    ///
    /// For example, the months with the greatest sums:
    ///
    /// ```swift
    /// let best = try orders.find().groups(
    ///     by: .start(of: .month, \.date, in: .current), computing: .sum(\.total),
    ///     sorted: [.by(.sum(\.total), .descending)], limit: 3)
    /// ```
    public struct GroupOrder<Element: Sendable>: Sendable {
        enum Criterion: Sendable {
            case aggregate(@Sendable (Query<Element>) throws -> BSONDocument)
            case key(@Sendable (Query<Element>) throws -> BSONValue)
        }

        let criterion: Criterion
        let direction: SortDirection

        /// By an aggregate, which need not be among those that are computed.
        public static func by<Value: Sendable>(
            _ aggregate: Aggregate<Element, Value>, _ direction: SortDirection = .ascending
        ) -> Self {
            Self(criterion: .aggregate(aggregate.operation), direction: direction)
        }

        /// By one of the keys of the groups.
        public static func key<Value: Sendable>(
            _ key: GroupKey<Element, Value>, _ direction: SortDirection = .ascending
        ) -> Self {
            Self(
                criterion: .key {
                    try key.checkOrder($0)
                    return try key.expression($0)
                }, direction: direction)
        }
    }
}
