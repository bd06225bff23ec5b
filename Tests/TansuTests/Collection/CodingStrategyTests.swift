import Foundation
import Tansu
import Testing

@Suite("Collections with coding strategies")
struct CodingStrategyTests {
    struct Visit: Codable, Sendable, Equatable {
        var id: UUID
        var when: Date
        var price: Decimal?
        var photo: Data?
        var seen: [Date]?
        var place: Place?
    }

    struct Place: Codable, Sendable, Equatable {
        var since: Date
    }

    private let db: Database
    private let visits: Database.Collection<Visit>
    private let texts = BSONCodingStrategies(date: .iso8601, data: .base64, uuid: .string, decimal: .string)
    private static let start = Date(timeIntervalSince1970: 1_700_000_000)

    init() throws {
        db = try Database(.memory)
        visits = try db.collection("visits", of: Visit.self, coding: texts)
    }

    private static func visit(_ hours: Double) -> Visit {
        Visit(
            id: UUID(), when: start + hours * 3600, price: Decimal(hours), photo: Data([UInt8(hours)]),
            seen: [start, start + hours * 60], place: Place(since: start - hours))
    }

    @Test("Values are stored in the form of the strategies, and come back")
    func roundTrip() throws {
        let visit = Self.visit(1)
        try visits.save(visit)
        let stored = try #require(try db.collection("visits").find().first())
        #expect(stored["_id"] == .string(visit.id.uuidString))
        #expect(stored["when"] == "2023-11-14T23:13:20.000Z")
        #expect(stored["price"] == "1" && stored["photo"] == "AQ==")
        #expect(stored[path: "place.since"] == "2023-11-14T22:13:19.000Z")
        #expect(try visits.get(visit.id) == visit)
        #expect(try visits.find().all() == [visit])
        #expect(try visits.remove(id: visit.id))
    }

    @Test("Dates that others store without a fraction are found by equality", arguments: [false, true])
    func foreignDates(isIndexed: Bool) throws {
        if isIndexed {
            try visits.ensureIndex(on: ["when": .ascending])
            try visits.ensureIndex(on: ["seen": .ascending])
        }
        let own = Self.visit(1)
        var other = Self.visit(1)
        other.id = UUID()
        let late = Self.visit(2)
        try visits.save([own, late])
        try db.collection("visits").save([
            "_id": .string(other.id.uuidString), "when": "2023-11-14T23:13:20Z", "price": "1", "photo": "AQ==",
            "seen": ["2023-11-14T22:13:20Z", "2023-11-14T22:14:20Z"], "place": ["since": "2023-11-14T22:13:19Z"],
        ])
        #expect(try visits.get(other.id) == other)
        func expect(
            _ found: [Visit], _ query: Database.Query<Visit>, _ location: SourceLocation = #_sourceLocation
        ) throws {
            let ids = try Set(query.all().map(\.id))
            #expect(ids == Set(found.map(\.id)), "\(query.filter)", sourceLocation: location)
        }
        let (when, both, all) = (own.when, [own, other], [own, other, late])
        try expect(both, visits.find { $0.when == when })
        try expect([late], visits.find { $0.when != when })
        try expect([late], visits.find { !($0.when == when) })
        try expect(all, visits.find { $0.when.in([when, late.when]) })
        try expect(both, visits.find { $0.seen.contains(Self.start + 60) })
        try expect(all, visits.find { $0.seen.contains { $0 == Self.start } })
        try expect(both, visits.find { $0.seen.first == Self.start && $0.place.since == Self.start - 1 })
        try expect(both, visits.find(["when": .date(when)]))
        try expect(both, visits.find(["when": ["$eq": .date(when)], "photo": ["$exists": true]]))
        try expect([late], visits.find(["when": ["$ne": .date(when)]]))
        try expect([late], visits.find(["when": ["$not": ["$eq": .date(when)]]]))
        try expect(all, visits.find(["$or": [["when": ["$in": [.date(when)]]], ["when": .date(late.when)]]]))
        try expect([], visits.find(["when": ["$nin": [.date(when), .date(late.when)]]]))
        try expect(both, visits.find(["seen": ["$elemMatch": ["$eq": .date(Self.start + 60)]]]))
        try expect(both, visits.find().and(["when": .date(when)]))
        // What has a fraction has one spelling.
        #expect(try visits.find { $0.when == when + 0.5 }.filter == ["when": "2023-11-14T23:13:20.500Z"])
        if #available(macOS 14, *) {
            try expect(both, visits.find(#Predicate { $0.when == when }))
            try expect([late], visits.find(#Predicate { $0.when != when }))
            let dates = [when]
            try expect(both, visits.find(#Predicate { dates.contains($0.when) }))
        }
        if isIndexed { #expect(try visits.find { $0.when == when }.explain().candidates.count > 1) }
        #expect(try visits.count(["when": .date(when)]) == 2)
        #expect(try visits.update(["when": .date(when)], ["$set": ["price": "7"]]).matched == 2)
        #expect(try visits.upsert(where: { $0.when == when }) { $0.set(\.price, 8) }.matched == 2)
        #expect(try visits.remove(["when": .date(when)]) == 2)
        // What an upsert inserts has the date itself.
        let id = UUID()
        try visits.upsert(where: { $0.when == when && $0.id == id }) { $0.set(\.price, 9) }
        #expect(try db.collection("visits").get(id.uuidString)?["when"] == "2023-11-14T23:13:20.000Z")
        try visits.upsert(["when": .date(late.when + 1), "_id": "x"], ["$set": ["price": "1"]])
        #expect(try db.collection("visits").get("x")?["when"] == "2023-11-15T00:13:21.000Z")
    }

    @Test("Values in queries by key path are compared with what is stored")
    func keyPaths() throws {
        let all = [1.0, 2, 3].map(Self.visit)
        try visits.save(all)
        let limit = Self.start + 1.5 * 3600
        #expect(try visits.find { $0.when > limit }.all() == Array(all[1...]))
        #expect(try visits.find { $0.id == all[1].id }.all() == [all[1]])
        #expect(try visits.find { $0.id.in([all[0].id, all[2].id]) }.count() == 2)
        #expect(try visits.find { $0.photo == Data([3]) }.all() == [all[2]])
        #expect(try visits.find { $0.price == 2 }.all() == [all[1]])
        #expect(try visits.find { $0.place.since < Self.start - 2 }.all() == [all[2]])
        #expect(try visits.find { $0.seen.contains(Self.start + 120) }.all() == [all[1]])
        #expect(try visits.find { $0.when.between(Self.start, limit) }.all() == [all[0]])
    }

    @Test("Values in predicates are compared with what is stored")
    func predicates() throws {
        guard #available(macOS 14, iOS 17, tvOS 17, watchOS 10, *) else { return }
        let all = [1.0, 2, 3].map(Self.visit)
        try visits.save(all)
        let (limit, id) = (Self.start + 1.5 * 3600, all[2].id)
        #expect(try visits.find(#Predicate { $0.when > limit && $0.id != id }).all() == [all[1]])
    }

    @Test("Values in literal queries are compared with what is stored")
    func literals() throws {
        let all = [1.0, 2, 3].map(Self.visit)
        try visits.save(all)
        let limit = BSONValue(Self.start + 1.5 * 3600)
        #expect(try visits.find(["when": ["$gt": limit]]).all() == Array(all[1...]))
        #expect(
            try visits.find(["$or": [["_id": BSONValue(all[0].id)], ["photo": BSONValue(Data([3]))]]]).count() == 2)
        #expect(try visits.count(["price": BSONValue(Decimal(2))]) == 1)
        try visits.update(["when": ["$gt": limit]], ["$set": ["when": limit]])
        #expect(try visits.find { $0.when == Self.start + 1.5 * 3600 }.count() == 2)
        #expect(try visits.distinct("when", ["when": ["$lt": limit]]) == ["2023-11-14T23:13:20.000Z"])
        #expect(try visits.findAndUpdate(["_id": BSONValue(all[0].id)], ["$set": ["price": "9"]])?.price == 1)
        #expect(try visits.update(id: all[0].id) { $0.price = 4 }?.price == 4)
        #expect(try visits.remove(["when": ["$lte": limit]]) == 3)
    }

    @Test("Aggregates are read by the strategies")
    func aggregates() throws {
        try visits.save([1.0, 2, 3].map(Self.visit))
        let (least, greatest) = try visits.find().aggregate(.min(\.when), .max(\.when))
        #expect(least == Self.start + 3600 && greatest == Self.start + 3 * 3600)
        #expect(try visits.find { $0.when > Self.start + 7201 }.distinct(\.when) == [Self.start + 3 * 3600])
        #expect(try visits.find().groups(by: \.when, .count).map { $0.0 }.first == Self.start + 3600)
    }

    @Test("Typed updates write by the strategies")
    func updates() throws {
        let visit = Self.visit(1)
        try visits.save(visit)
        try visits.update(where: { $0.id == visit.id }) {
            $0.set(\.when, Self.start)
            $0.set(\.price, nil)
            $0.append(\.seen, Self.start + 1)
        }
        let stored = try #require(try db.collection("visits").find().first())
        #expect(stored["when"] == "2023-11-14T22:13:20.000Z" && !stored.contains(key: "price"))
        #expect(try visits.get(visit.id)?.seen?.last == Self.start + 1)
    }

    @Test("Milliseconds and doubles of other tools are read and written")
    func json() throws {
        let numbers = visits.coding(BSONCodingStrategies(date: .millisecondsSince1970, uuid: .string, decimal: .double))
        let visit = Visit(id: UUID(), when: Self.start, price: Decimal(string: "7.1"))
        try numbers.save(visit)
        let stored = try #require(try db.collection("visits").find().first())
        #expect(stored["when"] == .int64(1_700_000_000_000) && stored["price"] == 7.1)
        #expect(try numbers.find { $0.price == Decimal(71) / 10 && $0.when <= Self.start }.all() == [visit])
        #expect(try numbers.find(["price": BSONValue(Decimal(71) / 10)]).count() == 1)
        #expect(try numbers.get(visit.id) == visit)
    }

    @Test("A strategy of one's own holds in queries")
    func custom() throws {
        let days = BSONCodingStrategies(
            date: .custom(
                encode: { BSONValue(Int($0.timeIntervalSince1970 / 86400)) },
                decode: { Date(timeIntervalSince1970: Double($0.intValue ?? 0) * 86400) }))
        let daily = visits.coding(days)
        try daily.save(Visit(id: UUID(), when: Date(timeIntervalSince1970: 86400 * 3)))
        #expect(try daily.find { $0.when > Date(timeIntervalSince1970: 86400 * 2) }.count() == 1)
        #expect(try daily.find(["when": BSONValue(Date(timeIntervalSince1970: 86400 * 3))]).count() == 1)
    }

    @Test("A transaction, another type and a collection of documents")
    func others() async throws {
        struct When: Codable, Sendable, Equatable { var when: Date }
        let visit = Self.visit(1)
        try await db.write { [texts] in try await $0.collection("visits", of: Visit.self, coding: texts).save(visit) }
        #expect(try await visits.decoded(as: When.self).find().all() == [When(when: visit.when)])
        #expect(try await visits.find().decoded(as: When.self).first() == When(when: visit.when))
        #expect(try await visits.find { $0.when == visit.when }.all() == [visit])
        #expect(try await visits.get(visit.id) == visit)
        #expect(try await visits.decoded(as: BSONDocument.self).count(["when": BSONValue(visit.when)]) == 0)
    }
}
