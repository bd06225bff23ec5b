import Foundation
import Tansu
import Testing

@Suite("Order of stored forms")
struct StoredOrderTests {
    struct Item: Codable, Sendable, Identifiable, Equatable {
        enum Level: String, Codable, Sendable, Comparable, CaseIterable {
            case low, middle, high
            static func < (a: Self, b: Self) -> Bool {
                allCases.firstIndex(of: a) ?? 0 < allCases.firstIndex(of: b) ?? 0
            }
        }

        struct Part: Codable, Sendable, Equatable { var price: Decimal }

        var id: Int
        var due: Date
        var price: Decimal = 1
        var paid: Decimal?
        var blob = Data()
        var level = Level.low
        var timeout = Duration.zero
        var parts: [Part] = []
        var code = UUID()
    }

    static let second = Date(timeIntervalSince1970: 1_700_000_000)

    /// Text that does not sort like its dates.
    static let german = BSONDateStrategy.custom(
        encode: { date in
            let parts = Calendar(identifier: .gregorian).dateComponents(in: .gmt, from: date)
            return .string("\(parts.day ?? 0).\(parts.month ?? 0).\(parts.year ?? 0)")
        },
        decode: { _ in second })

    private func items(_ coding: BSONCodingStrategies) throws -> (Database, Database.Collection<Item>) {
        let db = try Database(.memory)
        return (db, try db.collection("items", of: Item.self, coding: coding))
    }

    private func refuses(_ body: () throws -> Void, sourceLocation: SourceLocation = #_sourceLocation) {
        let error = #expect(throws: TansuError.self, sourceLocation: sourceLocation) { try body() }
        #expect(error?.code == .invalidQuery, sourceLocation: sourceLocation)
        #expect(error?.message.contains("not in their order") ?? false, sourceLocation: sourceLocation)
    }

    @Test(
        "Dates in every ordered form compare and sort like dates",
        arguments: [
            .bsonDate, .iso8601, .secondsSince1970, .millisecondsSince1970, .deferredToDate,
            .custom(
                encode: { .double($0.timeIntervalSince1970) },
                decode: { Date(timeIntervalSince1970: $0.doubleValue ?? 0) }),
        ] as [BSONDateStrategy])
    func dates(_ strategy: BSONDateStrategy) throws {
        let (_, items) = try items(BSONCodingStrategies(date: strategy))
        let offsets: [TimeInterval] = [
            -62_135_596_800 - 1_700_000_000, -1_700_000_000.5, -1_700_000_000, -0.5, 0, 0.5, 1, 60, 3600, 8e9, 2e11,
        ]
        let all = offsets.enumerated().map { Item(id: $0, due: Self.second + $1) }
        try items.save(all.shuffled())
        #expect(try items.find().sorted(by: \.due).all().map(\.id) == Array(all.indices))
        #expect(try items.find().sorted(by: "due", .descending).all().map(\.id) == all.indices.reversed())
        #expect(try items.find().aggregate(.max(\.due)) == all.last?.due)
        #expect(try items.find().aggregate(.min(\.due)) == all.first?.due)
        for (number, offset) in offsets.enumerated() {
            let date = Self.second + offset
            #expect(try items.find { $0.due < date }.count() == number)
            #expect(try items.find { $0.due >= date }.count() == all.count - number)
            #expect(try items.find(["due": ["$gt": .date(date)]]).count() == all.count - number - 1)
            #expect(try items.find { $0.due == date }.all().map(\.id) == [number])
        }
        var paged: [Int] = []
        var token: Database.PageToken?
        repeat {
            let page = try items.find().sorted(by: \.due).page(after: token, size: 2)
            paged += page.elements.map(\.id)
            token = page.next
        } while token != nil
        #expect(paged == Array(all.indices))
        try items.update(where: { $0.id == 4 }) { $0.raise(\.due, to: Self.second + 0.25) }
        #expect(try items.get(4)?.due == Self.second + 0.25)
        #expect(try items.remove { $0.due < Self.second } == 4)
    }

    @Test("Dates as text always have milliseconds, and text without them is read")
    func fraction() throws {
        let (db, items) = try items(BSONCodingStrategies(date: .iso8601))
        try items.save(Item(id: 1, due: Self.second))
        let documents = try db.collection("items")
        #expect(try documents.get(1)?["due"] == "2023-11-14T22:13:20.000Z")
        try documents.update(["_id": 1], ["$set": ["due": "2023-11-14T22:13:20Z"]])
        #expect(try items.get(1)?.due == Self.second)
        for year in [-1e11, 3e11] {
            #expect(throws: EncodingError.self) { try items.save(Item(id: 2, due: Date(timeIntervalSince1970: year))) }
        }
    }

    @Test("Whatever compares or sorts dates as text in another order is an error")
    func germanDates() throws {
        let (db, items) = try items(BSONCodingStrategies(date: Self.german))
        try items.save(Item(id: 1, due: Self.second))
        let date = Self.second
        refuses { _ = try items.find { $0.due < date } }
        refuses { _ = try items.find { !($0.due >= date) } }
        refuses { _ = try items.find { $0.due.between(date, date) } }
        refuses { _ = try items.find { $0.due.in(date...) } }
        refuses { _ = try items.find().and { $0.due <= date } }
        refuses { _ = try items.find().sorted(by: \.due) }
        refuses { _ = try items.find().sorted(by: "due").all() }
        refuses { _ = try items.find().sorted(by: "due").first() }
        refuses { _ = try items.find().sorted(by: "due").makeCursor() }
        refuses { _ = try items.find(hints: ["$orderby": ["due": -1]]).count() }
        refuses { _ = try items.find().sorted(by: "due").page(size: 1) }
        refuses { _ = try items.find(["due": ["$gt": .date(date)]]).all() }
        refuses { _ = try items.find(["$or": [["id": 1], ["due": ["$not": ["$lte": .date(date)]]]]]).count() }
        refuses { _ = try items.find().and(["due": ["$bt": [.date(date), .date(date)]]]).explain() }
        refuses { _ = try items.count(["due": ["$lt": .date(date)]]) }
        refuses { _ = try items.distinct("_id", ["due": ["$lt": .date(date)]]) }
        refuses { _ = try items.aggregate(["due": ["$lt": .date(date)]], group: ["fields": ["n": ["$count": true]]]) }
        refuses { _ = try items.find().aggregate(.max(\.due)) }
        refuses { _ = try items.find().aggregate(.count, .min(\.due)) }
        refuses { _ = try items.find().groups(by: .value(\.due), computing: .count, sorted: [.key(.value(\.due))]) }
        refuses { _ = try items.find().groups(by: .value(\.id), computing: .count, sorted: [.by(.max(\.due))]) }
        refuses { _ = try items.remove { $0.due < date } }
        refuses { _ = try items.remove(["due": ["$lt": .date(date)]]) }
        refuses { _ = try items.remove([:], hints: ["$orderby": ["due": 1], "$max": 1]) }
        refuses { _ = try items.update(["due": ["$lt": .date(date)]], ["$set": ["price": 1]]) }
        refuses { _ = try items.update(["due": ["$lt": .date(date)]]) { $0.price = 2 } }
        refuses { _ = try items.update([:], ["$max": ["due": .date(date)]]) }
        refuses { _ = try items.update(where: { $0.id == 1 }) { $0.lower(\.due, to: date) } }
        refuses { _ = try items.findAndUpdate([:], ["$set": ["id": 1]], hints: ["$orderby": ["due": 1]]) }
        refuses { _ = try items.findAndRemove(["due": ["$gte": .date(date)]]) }
        refuses { _ = try items.upsert(where: { $0.due > date }) { $0.set(\.price, 1) } }
        refuses {
            try items.ensureIndex("recent", on: ["_id": .ascending], partialFilter: ["due": ["$gt": .date(date)]])
        }
        refuses { try items.ensureIndex("recent", on: \.id, where: { $0.due > date }) }
        if #available(macOS 14, iOS 17, tvOS 17, watchOS 10, *) {
            refuses { _ = try items.find(#Predicate { $0.due < date }) }
        }
        // Nothing of that has changed anything; what needs no order works, and so do documents as they are.
        #expect(try items.find { $0.due == date }.count() == 1)
        #expect(try items.find().page(size: 1).elements.count == 1)
        #expect(try items.distinct("due").count == 1)
        try items.ensureIndex(on: \.due)
        #expect(try db.collection("items").find().sorted(by: "due").all().count == 1)
    }

    @Test("Asynchronous calls, sequences and observations throw, too")
    func asynchronous() async throws {
        let (_, items) = try items(BSONCodingStrategies(date: Self.german))
        try await items.save(Item(id: 1, due: Self.second))
        let query = items.find().sorted(by: "due")
        await #expect(throws: TansuError.self) { _ = try await query.all() }
        await #expect(throws: TansuError.self) { _ = try await query.count() }
        await #expect(throws: TansuError.self) { _ = try await query.page(size: 1) }
        await #expect(throws: TansuError.self) { for try await _ in query {} }
        await #expect(throws: TansuError.self) { for try await _ in query.observe() { break } }
        await #expect(throws: TansuError.self) { _ = try await items.remove { $0.due < Self.second } }
        await #expect(throws: TansuError.self) { _ = try await items.find().aggregate(.max(\.due)) }
        #expect(try await items.find().count() == 1)
    }

    @Test("Decimals as text: ranges, sorts, sums and updates are errors")
    func decimals() throws {
        let (_, items) = try items(BSONCodingStrategies(decimal: .string))
        try items.save([
            Item(id: 1, due: Self.second, price: 9, paid: 9),
            Item(id: 2, due: Self.second, price: 10, parts: [.init(price: 2)]),
        ])
        refuses { _ = try items.find { $0.price > 9 } }
        refuses { _ = try items.find { $0.paid > 9 } }
        refuses { _ = try items.find { $0.parts.contains { $0.price > 1 } } }
        refuses { _ = try items.find().sorted(by: \.price) }
        refuses { _ = try items.find().sorted(by: \.paid) }
        refuses { _ = try items.find().sorted(by: "parts.price").all() }
        refuses { _ = try items.find().aggregate(.sum(\.price)) }
        refuses { _ = try items.find().aggregate(.sum(\.paid)) }
        refuses { _ = try items.find().aggregate(.max(\.parts.price)) }
        refuses { _ = try items.update(where: { $0.id == 1 }) { $0.increment(\.price, by: 1) } }
        refuses { _ = try items.update(where: { $0.id == 1 }) { $0.multiply(\.price, by: 2) } }
        refuses { _ = try items.update([:], ["$inc": ["price": BSONValue(Decimal(1))]]) }
        #expect(try items.find { $0.price == 9 }.all().map(\.id) == [1])
        #expect(try items.find { $0.price.in([9, 10]) }.count() == 2)
        #expect(try items.find { $0.paid == nil }.count() == 1)
        try items.update(where: { $0.id == 1 }) { $0.set(\.price, 11) }
        #expect(try items.get(1)?.price == 11)
        let doubles = items.coding(BSONCodingStrategies(decimal: .double))
        try doubles.save([Item(id: 1, due: Self.second, price: 9), Item(id: 2, due: Self.second, price: 10)])
        #expect(try doubles.find { $0.price > 9 }.all().map(\.id) == [2])
        #expect(try doubles.find().sorted(by: \.price).all().map(\.id) == [1, 2])
        #expect(try doubles.find().aggregate(.max(\.price)) == 10)
    }

    @Test("Bytes as base64, durations and cases whose raw values sort otherwise")
    func others() throws {
        let (_, items) = try items(BSONCodingStrategies(data: .base64, uuid: .string))
        try items.save([
            Item(id: 1, due: Self.second, blob: Data([1]), level: .middle, timeout: .seconds(10)),
            Item(id: 2, due: Self.second, blob: Data([255]), level: .high, timeout: .seconds(9)),
        ])
        refuses { _ = try items.find().sorted(by: \.blob) }
        refuses { _ = try items.find().aggregate(.max(\.blob)) }
        refuses { _ = try items.find(["blob": ["$gt": BSONValue(Data([1]))]]).all() }
        refuses { _ = try items.find().sorted(by: \.timeout) }
        refuses { _ = try items.find().sorted(by: "timeout").all() }
        refuses { _ = try items.find().aggregate(.min(\.timeout)) }
        refuses { _ = try items.find { $0.level < .high } }
        refuses { _ = try items.find().sorted(by: \.level) }
        #expect(try items.find { $0.blob == Data([255]) && $0.level == .high }.all().map(\.id) == [2])
        let codes = try items.find().sorted(by: \.code).all().map(\.code)
        #expect(codes == codes.sorted { $0.uuidString < $1.uuidString })
    }

    @Test("Documents by when they were saved are found whatever the form of dates")
    func timestamps() throws {
        for strategy in [.iso8601, .secondsSince1970, .bsonDate] as [BSONDateStrategy] {
            let (db, items) = try items(BSONCodingStrategies(date: strategy))
            try db.setTimestamps(Database.Timestamps(), of: "items")
            try items.save(Item(id: 1, due: Self.second))
            #expect(try items.find(savedAfter: Self.second).count() == 1)
            #expect(try items.find(savedOn: .now).count() == 1)
            #expect(try items.remove(items.find(savedBefore: Self.second)) == 0)
            #expect(try items.update(items.find(savedAfter: Self.second)) { $0.set(\.price, 3) }.modified == 1)
        }
    }
}
