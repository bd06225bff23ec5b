import Foundation
import Tansu
import Testing

@Suite("Groups by time, with unusual dates and time zones")
struct GroupLimitTests {
    struct Event: Codable, Sendable {
        var id: Int
        var at: Date?
    }

    private let events: Database.Collection<Event>

    init() throws {
        events = try Database(.memory).collection("events", of: Event.self)
    }

    @Test("Dates of any time are grouped, at or before themselves", arguments: Database.TimeUnit.allCases)
    func farDates(unit: Database.TimeUnit) throws {
        let dates = [-62_135_769_600, -2_208_988_801, -1.5, -0.001, 0, 0.999, 4_102_444_800, 64_092_211_200, 1e15]
        for (id, seconds) in dates.enumerated() {
            try events.save(Event(id: id, at: Date(timeIntervalSince1970: seconds)))
        }
        try events.save(Event(id: 100))
        let zone = try #require(TimeZone(identifier: "America/St_Johns"))
        for (id, seconds) in dates.enumerated() {
            let groups = try events.find { $0.id == id }.groups(by: .start(of: unit, \.at, in: zone), computing: .count)
            let start = try #require(groups.first?.key).timeIntervalSince1970
            #expect(groups.count == 1 && start <= seconds + 0.0005 && start > seconds - 367 * 86400)
        }
        let all = try events.find().groups(by: .start(of: unit, \.at, in: zone), computing: .count)
        #expect(all.first?.key == nil && all.first?.values == 1)
        #expect(all.map(\.values).reduce(0, +) == dates.count + 1)
    }

    @Test("A time zone of a fixed offset groups by its midnights, or is an error if it is not of whole minutes")
    func offsets() throws {
        try events.save(Event(id: 1, at: Date(timeIntervalSince1970: 86400 * 365)))
        for seconds in [-64800, -43200, -12345, -3599, -60, -1, 0, 1, 59, 60, 1800, 3601, 20700, 50400, 64800] {
            guard let zone = TimeZone(secondsFromGMT: seconds) else { continue }
            do {
                let groups = try events.find().groups(by: .start(of: .day, \.at, in: zone), computing: .count)
                let start = try #require(groups.first?.key)
                var calendar = Calendar(identifier: .gregorian)
                calendar.timeZone = zone
                #expect(
                    start == calendar.startOfDay(for: Date(timeIntervalSince1970: 86400 * 365)),
                    "\(zone.identifier) \(seconds)")
            } catch let error as TansuError {
                #expect(error.code == .invalidQuery)
                #expect(seconds % 60 != 0, "\(zone.identifier) \(error.message)")
            }
        }
    }

    @Test(
        "Time zones are known by the names that Foundation knows",
        .enabled(if: FileManager.default.fileExists(atPath: "/usr/share/zoneinfo/UTC")))
    func knownZones() throws {
        try events.save(Event(id: 1, at: Date(timeIntervalSince1970: 1_000_000_000)))
        for identifier in ["UTC", "GMT", "GMT0", "Etc/GMT-14", "Asia/Kolkata", "America/Argentina/Ushuaia"] {
            guard let zone = TimeZone(identifier: identifier) else { continue }
            #expect(try events.find().groups(by: .start(of: .hour, \.at, in: zone), computing: .count).count == 1)
        }
    }

    @Test("A date that is no date in the database is the group nil, and an error for a date that is not optional")
    func otherValues() throws {
        struct Strict: Codable, Sendable {
            var id: Int
            var at: Date
        }
        let db = try Database(.memory)
        let strict = try db.collection("events", of: Strict.self)
        try strict.save(Strict(id: 1, at: Date(timeIntervalSince1970: 0)))
        try db.collection("events").save(["_id": 2, "at": ["x", 1]])
        let zone = try #require(TimeZone(secondsFromGMT: 0))
        #expect(throws: (any Error).self) {
            try strict.find().groups(by: .start(of: .year, \.at, in: zone), computing: .count)
        }
        #expect(
            try strict.find { $0.id == 1 }.groups(by: .start(of: .year, \.at, in: zone), computing: .count).count == 1)
    }
}
