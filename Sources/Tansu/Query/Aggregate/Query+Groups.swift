extension Database.Query {
    /// Aggregates of groups of the documents, one group for each combination of values.
    ///
    /// For example:
    ///
    /// ```swift
    /// let sales = try orders.find().groups(
    ///     by: .value(\.shop), .start(of: .month, \.date, in: berlin), computing: .count, .sum(\.total),
    ///     sorted: [.by(.sum(\.total), .descending)], limit: 10)
    /// for ((shop, month), (number, total)) in sales { … }
    /// ```
    ///
    /// With one key, or one aggregate, there is no tuple of it.
    ///
    /// - Parameters:
    ///   - keys: What makes the groups.
    ///   - aggregates: What to compute of each group.
    ///   - order: The order of the groups, the most significant first. Groups that are equal in it, and all groups
    ///     without one, are in the order of their keys.
    ///   - limit: The maximum number of groups; 0 is no limit.
    /// - Returns: The keys and the aggregates of each group.
    /// - Throws: As `aggregate(_:)`; ``TansuError`` with `.invalidQuery` also when
    ///   the database of time zones does not have one, dates are stored in another form, or the order names a key that
    ///   the groups do not have.
    public func groups<each Key: Sendable, each Value: Sendable>(
        by keys: repeat Database.GroupKey<Element, each Key>,
        computing aggregates: repeat Database.Aggregate<Element, each Value>,
        sorted order: [Database.GroupOrder<Element>] = [], limit: Int = 0
    ) throws -> [(key: (repeat each Key), values: (repeat each Value))] {
        var plan = GroupPlan()
        for key in repeat each keys { plan.add(key: try key.expression(self)) }
        for aggregate in repeat each aggregates { plan.add(aggregate: try aggregate.operation(self)) }
        for criterion in order { try plan.add(criterion, of: self) }
        var query = self
        if limit != 0 { query = query.limit(limit) }
        if !order.isEmpty { query.hints["$orderby"] = .document(plan.order) }
        let groups = try query.aggregated(["by": .document(plan.keys), "fields": .document(plan.aggregates)])
        return try codec.coding {
            try groups.map { group in
                let (key, value) = (GroupNames("k"), GroupNames("f"))
                return (
                    key: (repeat try (each keys).decode(group[key.next()] ?? .null)),
                    values: (repeat try decoded(each aggregates, group[value.next()]))
                )
            }
        }
    }

    /// Aggregates of groups of the documents, one group for each combination of values.
    ///
    /// - Parameters:
    ///   - keys: What makes the groups.
    ///   - aggregates: What to compute of each group.
    ///   - order: The order of the groups, the most significant first.
    ///   - limit: The maximum number of groups; 0 is no limit.
    /// - Returns: The keys and the aggregates of each group.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func groups<each Key: Sendable, each Value: Sendable>(
        by keys: repeat Database.GroupKey<Element, each Key>,
        computing aggregates: repeat Database.Aggregate<Element, each Value>,
        sorted order: [Database.GroupOrder<Element>] = [], limit: Int = 0
    ) async throws -> [(key: (repeat each Key), values: (repeat each Value))] {
        try await session.runCancellable(.read) {
            try self.using($0).groups(
                by: repeat each keys, computing: repeat each aggregates, sorted: order, limit: limit)
        }
    }
}

/// The parts of a group document, with the names of their members.
private struct GroupPlan {
    private(set) var keys: BSONDocument = [:]
    private(set) var aggregates: BSONDocument = [:]
    private(set) var order: BSONDocument = [:]

    mutating func add(key: BSONValue) {
        keys["k\(keys.count)"] = key
    }

    /// Adds an aggregate; the name that it has.
    @discardableResult
    mutating func add(aggregate: BSONDocument) -> String {
        let name = "f\(aggregates.count)"
        aggregates[name] = .document(aggregate)
        return name
    }

    /// Adds to the order. An aggregate that is not there is computed for it.
    mutating func add<Element>(
        _ order: Database.GroupOrder<Element>, of query: Database.Query<Element>
    ) throws {
        let name: String
        switch order.criterion {
        case .aggregate(let operation):
            let document = try operation(query)
            name = aggregates.first { $0.value == .document(document) }?.key ?? add(aggregate: document)
        case .key(let expression):
            let value = try expression(query)
            guard let key = keys.first(where: { $0.value == value })?.key else {
                throw TansuError(
                    .invalidQuery, "The groups are sorted by a key that they do not have; group by it, too",
                    context: "\(value)")
            }
            name = key
        }
        // What is sorted by twice has its first direction.
        if !self.order.contains(key: name) { self.order[name] = order.direction.bsonValue }
    }
}

/// The names of keys or aggregates in a group: "f0", "f1" and so on.
private final class GroupNames {
    private let prefix: String
    private var number = 0

    init(_ prefix: String) {
        self.prefix = prefix
    }

    func next() -> String {
        defer { number += 1 }
        return "\(prefix)\(number)"
    }
}
