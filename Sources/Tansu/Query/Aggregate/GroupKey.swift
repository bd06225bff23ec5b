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
