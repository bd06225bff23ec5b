import Foundation
import Tansu
import TansuObjects
import Testing

/// A collection whose values are stored in one form, and one in another that refers to it.
@Suite("Collections with different coding strategies")
struct MixedCodingTests {
    private struct Item: Codable, Sendable, Identifiable, Equatable {
        var id: Int
        var price: Decimal
        var at: Date
        var code: UUID
        var dates: [Date] = []
    }

    private struct Line: Codable, Sendable, Equatable {
        var item: Reference<Item>
        var at: Date
    }

    private struct Order: Codable, Sendable, Identifiable, Equatable {
        var id: Int
        var item: Reference<Item>?
        var items: [Reference<Item>] = []
        var lines: [Line] = []
        var at: Date
        var code: UUID
    }

    private static let codings: [BSONCodingStrategies] = [
        .init(), .json, .init(date: .secondsSince1970),
        .init(date: .millisecondsSince1970, uuid: .string, decimal: .string),
        .init(date: .deferredToDate, data: .base64, decimal: .double),
    ]

    private let time = Date(timeIntervalSince1970: 1000)
    private let code = UUID()

    private func database(_ items: BSONCodingStrategies, _ orders: BSONCodingStrategies) throws -> Database {
        let db = try Database(.memory)
        try db.use(
            Model {
                Entity("items", of: Item.self, coding: items)
                Entity("orders", of: Order.self, coding: orders)
                    .reference(\.item, to: "items").reference(\.items, to: "items")
                    .reference(\.lines, \.item, to: "items")
            })
        let item = Item(id: 1, price: 9.5, at: time, code: code, dates: [time])
        try db.save(graph: [
            item,
            Order(
                id: 1, item: .init(to: item), items: [.init(to: item)], lines: [.init(item: .init(to: item), at: time)],
                at: time, code: code),
        ])
        return db
    }

    @Test("Values are compared as the collection stores them that a reference leads to", arguments: codings, codings)
    func conditions(_ items: BSONCodingStrategies, _ orders: BSONCodingStrategies) throws {
        let db = try database(items, orders)
        let (items, orders) = try (db.collection(of: Item.self), db.collection(of: Order.self))
        let conditions: [(Database.Field<Order>) -> Database.Condition] = [
            { $0.item.at == time && $0.item.at > time - 1 && !($0.item.at < time) && $0.item.at <= .now },
            { $0.item.code == code && $0.code == code }, { $0.item.price == 9.5 }, { !($0.item.at != time) },
            { $0.items.contains { $0.at == time && $0.code == code } }, { $0.item.dates.contains { $0 > time - 1 } },
            { $0.item.dates.contains(time) }, { $0.at == time && $0.item.at == time },
            { $0.lines.contains { $0.at == time && $0.item.at == time } }, { $0.item.at.in([time]) },
            { $0.item.inverse(\Order.item).contains { $0.at == time } && $0.at == time },
            { _ in .raw(["item.at": BSONValue(time), "at": BSONValue(time)]) },
            { $0.lines.contains { _ in .raw(["item.at": BSONValue(time), "at": BSONValue(time)]) } },
        ]
        for (number, condition) in conditions.enumerated() {
            #expect(try orders.find(condition).count() == 1, "condition \(number)")
            #expect(try db.write { try $0.collection(of: Order.self).find(condition).count() } == 1, "\(number)")
        }
        #expect(try orders.find { $0.item.at != time }.count() == 0)
        #expect(try items.find { $0.inverse(\Order.item).contains { $0.at == time } && $0.at == time }.count() == 1)
        #expect(try items.find { $0.inverse(\Order.item).contains { _ in .raw(["at": BSONValue(time)]) } }.count() == 1)
    }

    @Test("So are those in query documents", arguments: codings, codings)
    func documents(_ items: BSONCodingStrategies, _ orders: BSONCodingStrategies) throws {
        let db = try database(items, orders)
        let orders = try db.collection(of: Order.self)
        let (at, code) = (BSONValue(time), BSONValue(code))
        let queries: [BSONDocument] = [
            ["item.at": at], ["item.at": ["$in": [at]], "at": at], ["item.code": code, "code": code],
            ["item": ["at": at]], ["$and": [["item.at": ["$gte": at]], ["at": ["$eq": at]]]],
            ["items": ["$elemMatch": ["at": at, "code": code]]], ["lines.item.at": at], ["lines.0.item.at": at],
            ["lines": ["$elemMatch": ["item.at": at, "at": at]]],
            ["item": ["$in": ["$from": "items", "$query": ["at": at, "code": code]]], "at": at],
            ["item.at": ["$not": ["$lt": at]]],
        ]
        for query in queries {
            #expect(try orders.find(query).count() == 1, "\(query)")
            #expect(try orders.count(query) == 1, "\(query)")
        }
        try orders.update(["item.at": at], ["$set": ["code": BSONValue(UUID())]])
        #expect(try orders.get(1)?.code != self.code)
        #expect(try orders.remove(["item.code": code]) == 1)
    }

    @Test("A comparison by order is refused where the other collection does not store the order")
    func order() throws {
        let db = try database(.init(date: .iso8601, decimal: .string), .init())
        let orders = try db.collection(of: Order.self)
        for find in [
            { try orders.find { $0.item.price > 9 }.count() },
            { try orders.find(["item.price": ["$gt": .decimal128(Decimal128(9))]]).count() },
            { try orders.remove { $0.item.price < 9 } },
        ] as [() throws -> Int] {
            let error = #expect(throws: TansuError.self) { try find() }
            #expect(error?.code == .invalidQuery && error?.message.contains("not in their order") ?? false)
        }
        #expect(try orders.remove { $0.item.price != 9 } == 1)
    }

    @Test("A join of documents in another form is refused where they could not be decoded")
    func joins() throws {
        struct Joined: Codable, Sendable, Identifiable {
            var id: Int
            var item: Item?
        }
        let join: BSONDocument = ["$do": ["item": ["$join": "items"]]]
        let mixed = try database(.json, .init())
        let error = #expect(throws: TansuError.self) {
            try mixed.collection("orders", of: Joined.self).find(hints: join).all()
        }
        #expect(error?.code == .invalidQuery && error?.message.contains("including") ?? false)
        #expect(try mixed.collection("orders").find(hints: join).first()?["item"]?.documentValue?["_id"] == 1)
        let alike = try database(.json, .json)
        let found = try alike.collection("orders", of: Joined.self, coding: .json).find(hints: join).all()
        #expect(found.first?.item?.at == time)
    }

    @Test("Two references to ids that are equal in Swift only are not resolved as one")
    func equalIDs() throws {
        struct Text: Codable, Sendable, Identifiable { var id: String }
        let db = try Database(.memory)
        try db.use(Model { Entity("texts", of: Text.self) })
        try db.collection(of: Text.self).save([Text(id: "\u{E9}"), Text(id: "e\u{301}")])
        let both = [Reference<Text>(id: "\u{E9}"), Reference<Text>(id: "e\u{301}")]
        let error = #expect(throws: TansuError.self) { try both.resolved(in: db) }
        #expect(error?.code == .invalidArgument)
        #expect(try both[1...].resolved(in: db).values.map { Array($0.id.utf8).count } == [3])
        #expect(try [both[0], both[0]].resolved(in: db).count == 1)
    }
}
