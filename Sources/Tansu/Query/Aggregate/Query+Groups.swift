public import Foundation

extension Database {
    /// What documents are grouped by: the value of a property, or the beginning of the unit of time in which a date lies.
    public struct GroupKey<Element: Sendable, Value: Sendable>: Sendable {
        /// The path, or the expression, in the engine's form.
        let expression: @Sendable (Query<Element>) throws -> BSONValue
        let decode: @Sendable (BSONValue) throws -> Value
        /// Checks that groups can be sorted by it.
        var checkOrder: @Sendable (Query<Element>) throws -> Void = { _ in }
    }

    /// A unit of time that begins at a midnight, or at an hour, minute or second of the clock.
    public enum TimeUnit: String, Sendable, Hashable, CaseIterable {
        /// A year of the Gregorian calendar, as the others.
        case year
        /// Three months, from January on.
        case quarter
        /// A month.
        case month
        /// Seven days.
        case week
        /// A day.
        case day
        /// An hour.
        case hour
        /// A minute.
        case minute
        /// A second.
        case second
    }

    /// A day of the week.
    public enum Weekday: String, Sendable, Hashable, CaseIterable {
        /// Monday.
        case monday
        /// Tuesday.
        case tuesday
        /// Wednesday.
        case wednesday
        /// Thursday.
        case thursday
        /// Friday.
        case friday
        /// Saturday.
        case saturday
        /// Sunday.
        case sunday
    }
}

extension Database.GroupKey where Value: Decodable {
    /// The value of a property; nil is a group, too.
    public static func value(_ keyPath: KeyPath<Element, Value>) -> Self {
        let property = ReadOnlyKeyPath(keyPath: keyPath)
        return Self(
            expression: { .string(try $0.path(of: property.keyPath)) }, decode: { try QueryCoding.decoded($0) },
            checkOrder: { try $0.checkOrder(of: property.keyPath) })
    }

    private static func start<Property>(
        _ unit: Database.TimeUnit, _ keyPath: KeyPath<Element, Property>, _ timeZone: TimeZone,
        _ firstWeekday: Database.Weekday
    ) -> Self {
        let property = ReadOnlyKeyPath(keyPath: keyPath)
        return Self(
            expression: { query in
                let path = try query.path(of: property.keyPath)
                guard case .bsonDate = query.codec.strategies.date else {
                    throw TansuError(
                        .invalidQuery,
                        "Dates of collection \"\(query.collection)\" are not stored as dates, and cannot be truncated;"
                            + " group in Swift, or store them with the strategy bsonDate", context: path)
                }
                return [
                    "$dateTrunc": [
                        "date": .string(path), "unit": .string(unit.rawValue),
                        "timezone": .string(try timeZone.engineName(for: path)),
                        "startOfWeek": .string(firstWeekday.rawValue),
                    ]
                ]
            }, decode: { try BSONDecoder().decodeValue(Value.self, from: $0) })
    }
}

extension Database.GroupKey where Value == Date {
    /// The beginning of the unit of time in which a date lies: `.start(of: .month, \.date, in: .current)`.
    ///
    /// - Parameters:
    ///   - unit: The unit.
    ///   - keyPath: The date, which is stored as one.
    ///   - timeZone: Where its midnights and hours begin, with daylight saving time as it is there. A fixed offset is
    ///     of whole minutes.
    ///   - firstWeekday: On which day weeks begin.
    public static func start(
        of unit: Database.TimeUnit, _ keyPath: KeyPath<Element, Date>, in timeZone: TimeZone,
        firstWeekday: Database.Weekday = .monday
    ) -> Self {
        start(unit, keyPath, timeZone, firstWeekday)
    }
}

extension Database.GroupKey where Value == Date? {
    /// The beginning of the unit of time in which an optional date lies; nil where there is none.
    ///
    /// - Parameters:
    ///   - unit: The unit.
    ///   - keyPath: The date, which is stored as one.
    ///   - timeZone: Where its midnights and hours begin, with daylight saving time as it is there. A fixed offset is
    ///     of whole minutes.
    ///   - firstWeekday: On which day weeks begin.
    public static func start(
        of unit: Database.TimeUnit, _ keyPath: KeyPath<Element, Date?>, in timeZone: TimeZone,
        firstWeekday: Database.Weekday = .monday
    ) -> Self {
        start(unit, keyPath, timeZone, firstWeekday)
    }
}

extension TimeZone {
    /// The name as the engine takes it: of a fixed offset, whose identifier is rounded to minutes, "+02:00".
    ///
    /// - Throws: `.invalidQuery` with that path, for an offset of other than whole minutes.
    fileprivate func engineName(for path: String) throws -> String {
        guard identifier.hasPrefix("GMT") else { return identifier }
        let seconds = secondsFromGMT()
        guard seconds.isMultiple(of: 60) else {
            throw TansuError(
                .invalidQuery,
                "A time zone \(seconds) seconds from GMT has no offset of whole minutes; round it to minutes",
                context: path)
        }
        let (hours, minutes) = (abs(seconds) / 3600, abs(seconds) / 60 % 60)
        return "\(seconds < 0 ? "-" : "+")\(hours < 10 ? "0" : "")\(hours):\(minutes < 10 ? "0" : "")\(minutes)"
    }
}

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

// MARK: - Groups

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
