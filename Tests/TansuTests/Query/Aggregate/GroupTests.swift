import Foundation
import Tansu
import TansuTestSupport
import Testing

@Suite("Groups by several keys and by time")
struct GroupTests {
    struct Order: Codable, Sendable {
        enum CodingKeys: String, CodingKey { case id, shop, at, total, paid = "paid_at" }
        var id: Int
        var shop: String?
        var at: Date
        var total: Int
        var paid: Date?
    }

    private let db: Database
    private let orders: Database.Collection<Order>
    private let berlin: TimeZone

    init() throws {
        db = try Database(.memory)
        orders = try db.collection("orders", of: Order.self)
        berlin = try #require(TimeZone(identifier: "Europe/Berlin"))
    }

    private func date(_ text: String) throws -> Date {
        try Date(text, strategy: .iso8601)
    }

    private func save() throws {
        try orders.save([
            Order(id: 1, shop: "a", at: date("2026-03-31T21:59:59Z"), total: 5),
            Order(id: 2, shop: "b", at: date("2026-03-31T22:00:00Z"), total: 7, paid: date("2026-04-01T00:00:00Z")),
            Order(id: 3, shop: "b", at: date("2026-04-09T10:00:00Z"), total: 1),
            Order(id: 4, at: date("2026-04-09T11:00:00Z"), total: 100),
        ])
    }

    @Test("Keys and aggregates are returned in their types, in the order of the keys")
    func severalKeys() throws {
        try save()
        let groups = try orders.find().groups(
            by: .value(\.shop), .start(of: .month, \.at, in: berlin), computing: .count, .sum(\.total))
        let (march, april) = try (date("2026-02-28T23:00:00Z"), date("2026-03-31T22:00:00Z"))
        #expect(groups.map(\.key.0) == [nil, "a", "b"])
        #expect(groups.map(\.key.1) == [april, march, april])
        #expect(groups.map(\.values.0) == [1, 1, 2])
        #expect(groups.map(\.values.1) == [100, 5, 8])
        for ((shop, month), (number, total)) in groups.prefix(1) {
            #expect(shop == nil && month == april && number == 1 && total == 100)
        }
    }

    @Test("Groups are sorted by aggregates and keys, and limited")
    func order() throws {
        try save()
        let best = try orders.find { $0.shop != nil }.groups(
            by: .start(of: .month, \.at, in: berlin), computing: .sum(\.total),
            sorted: [.by(.sum(\.total), .descending)], limit: 1)
        #expect(best.map(\.values) == [8])
        // By an aggregate that is not computed.
        let few = try orders.find().groups(
            by: .value(\.shop), computing: .sum(\.total), sorted: [.by(.count), .key(.value(\.shop), .descending)])
        #expect(few.map(\.values) == [5, 100, 8])
        let keys = try orders.find().groups(
            by: .start(of: .day, \.at, in: .gmt), sorted: [.key(.start(of: .day, \.at, in: .gmt), .descending)])
        #expect(try keys.map(\.key) == [date("2026-04-09T00:00:00Z"), date("2026-03-31T00:00:00Z")])
        let error = #expect(throws: TansuError.self) {
            try orders.find().groups(by: .value(\.shop), sorted: [.key(.value(\.total))])
        }
        #expect(error?.code == .invalidQuery)
    }

    @Test("Units begin where Foundation's calendar says, in every time zone", arguments: Database.TimeUnit.allCases)
    func calendar(unit: Database.TimeUnit) throws {
        guard let component = unit.component else { return }
        var calendar = Calendar(identifier: .gregorian)
        calendar.firstWeekday = 2
        var generator = SeededGenerator(seed: SeededGenerator.seed())
        for name in ["Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Sydney", "UTC"] {
            let zone = try #require(TimeZone(identifier: name))
            calendar.timeZone = zone
            let values = (0..<200).map { number in
                let seconds = Int64.random(in: 0..<2_000_000_000, using: &generator)
                return Order(id: number, at: Date(timeIntervalSince1970: TimeInterval(seconds)), total: 1)
            }
            try orders.remove([:])
            try orders.save(values)
            let groups = try orders.find().groups(by: .start(of: unit, \.at, in: zone), computing: .count)
            let expected = try Dictionary(grouping: values) {
                try #require(calendar.dateInterval(of: component, for: $0.at)).start
            }
            #expect(groups.map(\.key) == expected.keys.sorted(), "\(name)")
            for (start, number) in groups { #expect(expected[start]?.count == number) }
        }
    }

    @Test("Weeks begin on the day asked for, and a fixed offset is a time zone")
    func weeks() throws {
        try orders.save(Order(id: 1, at: date("2026-04-08T23:00:00Z"), total: 1))
        func week(_ day: Database.Weekday, _ zone: TimeZone) throws -> Date? {
            try orders.find().groups(by: .start(of: .week, \.at, in: zone, firstWeekday: day)).first?.key
        }
        let plusTwo = try #require(TimeZone(secondsFromGMT: 7200))
        #expect(try week(.thursday, .gmt) == date("2026-04-02T00:00:00Z"))
        #expect(try week(.thursday, plusTwo) == date("2026-04-08T22:00:00Z"))
        let minus = try #require(TimeZone(secondsFromGMT: -19_800))
        #expect(try week(.monday, minus) == date("2026-04-06T05:30:00Z"))
    }

    @Test("An optional date that is nil makes a group of its own")
    func optionalDates() async throws {
        try save()
        let groups = try await orders.find().groups(by: .start(of: .year, \.paid, in: .gmt), computing: .count)
        #expect(try groups.map(\.key) == [nil, date("2026-01-01T00:00:00Z")])
        #expect(groups.map(\.values) == [3, 1])
    }

    @Test("Dates that are stored as text cannot be truncated")
    func otherForms() throws {
        let texts = try db.collection("orders", of: Order.self, coding: .json)
        let error = #expect(throws: TansuError.self) {
            try texts.find().groups(by: .start(of: .year, \.at, in: .gmt), computing: .count)
        }
        #expect(error?.code == .invalidQuery)
    }
}

extension Database.TimeUnit {
    /// The component of Foundation; it knows no quarters in intervals.
    fileprivate var component: Calendar.Component? {
        switch self {
        case .year: .year
        case .quarter: nil
        case .month: .month
        case .week: .weekOfYear
        case .day: .day
        case .hour: .hour
        case .minute: .minute
        case .second: .second
        }
    }
}
