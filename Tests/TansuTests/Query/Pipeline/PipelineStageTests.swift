import Foundation
import Tansu
import TansuTestSupport
import Testing

@Suite("Stages of pipelines")
struct PipelineStageTests {
    struct Line: Codable, Sendable { var product: String; var quantity: Int }

    struct Order: Codable, Sendable, Identifiable {
        enum CodingKeys: String, CodingKey { case id, shop = "store", customer, lines, isPaid }
        var id: Int
        var shop: String
        var customer: Int
        var lines: [Line]
        var isPaid = true
    }

    private func orders() throws -> (Database, Database.Collection<Order>) {
        let db = try patientDatabase()
        let orders = try db.collection("orders", of: Order.self)
        try orders.save([
            Order(
                id: 1, shop: "north", customer: 7,
                lines: [Line(product: "tea", quantity: 2), Line(product: "cup", quantity: 1)]),
            Order(id: 2, shop: "south", customer: 8, lines: [Line(product: "tea", quantity: 5)]),
            Order(id: 3, shop: "north", customer: 7, lines: [], isPaid: false),
        ])
        try db.collection("customers").save([["_id": 7, "name": "mike"], ["_id": 8, "name": "rosa"]])
        return (db, orders)
    }

    private func ids(
        _ orders: Database.Collection<Order>, _ pipeline: Database.Pipeline<Order>
    ) throws -> [Int] {
        try orders.aggregate(pipeline).all().compactMap { $0["_id"]?.intValue }
    }

    @Test("Documents match a condition, a query or a document")
    func match() throws {
        let (db, orders) = try orders()
        #expect(try ids(orders, [.match { $0.shop == "north" && $0.isPaid }]) == [1])
        #expect(try ids(orders, [.match(try orders.find { $0.customer == 7 })]) == [1, 3])
        #expect(try ids(orders, [.match(["store": "south"])]) == [2])
        #expect(throws: TansuError.self) { try ids(orders, [.match(orders.find().limit(1))]) }
        let other = try db.collection("others", of: Order.self).find()
        let error = #expect(throws: TansuError.self) { try ids(orders, [.match(other)]) }
        #expect(error?.code == .invalidArgument)
    }

    @Test("Groups have the key as _id, and accumulators of properties by their stored names")
    func group() throws {
        struct Shop: Codable, Sendable, Equatable {
            var id: String
            var orders: Int
            var sum: Int
            var mean: Double
            var least: Int
            var greatest: Int
            var first: Int
            var last: Int
            var all: [Int]
            var customers: [Int]
        }
        let (_, orders) = try orders()
        let shops = try orders.aggregate(
            [
                .sort(by: \.id),
                .group(
                    by: \.shop,
                    [
                        "orders": .count, "sum": .sum(\.id), "mean": .average(\.id), "least": .min(\.id),
                        "greatest": .max(\.id), "first": .first(\.id), "last": .last(\.id), "all": .push(\.id),
                        "customers": .addToSet(\.customer),
                    ]),
                .sort(["_id": 1]),
            ], as: Shop.self)
        #expect(
            try shops.all() == [
                Shop(
                    id: "north", orders: 2, sum: 4, mean: 2, least: 1, greatest: 3, first: 1, last: 3, all: [1, 3],
                    customers: [7]),
                Shop(
                    id: "south", orders: 1, sum: 2, mean: 2, least: 2, greatest: 2, first: 2, last: 2, all: [2],
                    customers: [8]),
            ])
    }

    @Test("Accumulators take expressions and documents")
    func expressions() throws {
        let (_, orders) = try orders()
        let size: BSONValue = ["$size": "$lines"]
        let all = try orders.aggregate([
            .sort(["_id": 1]),
            .group(
                by: nil,
                [
                    "sum": .sum(size), "mean": .average(size), "least": .min(size), "greatest": .max(size),
                    "first": .first(size), "last": .last(size), "all": .push("$_id"), "some": .addToSet("$customer"),
                    "top": ["$firstN": ["input": "$_id", "n": 2]],
                ]),
            .unwind("some"),
            .sort(by: "some", .descending),
        ]).all()
        #expect(all.map { $0["some"] } == [8, 7])
        let first = try #require(all.first)
        #expect(first["sum"] == 3 && first["mean"] == 1.0 && first["least"] == 0 && first["greatest"] == 2)
        #expect(first["first"] == 2 && first["last"] == 0 && first["all"] == [1, 2, 3] && first["top"] == [1, 2])
    }

    @Test("Arrays are unwound, and documents without elements kept on request")
    func unwind() throws {
        let (_, orders) = try orders()
        #expect(try ids(orders, [.unwind(\.lines)]) == [1, 1, 2])
        #expect(try ids(orders, [.unwind("lines", keepsEmpty: true)]) == [1, 1, 2, 3])
        let sold = try orders.aggregate([
            .unwind(\.lines), .group(by: "$lines.product", ["sold": .sum("$lines.quantity")]),
            .sort(by: "sold", .descending),
        ]).all()
        #expect(sold == [["_id": "tea", "sold": 7], ["_id": "cup", "sold": 1]])
    }

    @Test("Documents of another collection are looked up by a property or a path")
    func lookup() throws {
        let (_, orders) = try orders()
        let names: Database.Pipeline<Order>.Stage = .project(["names": "$who.name"])
        let byProperty = try orders.aggregate([.lookup(from: "customers", localField: \.customer, as: "who"), names])
        #expect(try byProperty.all().map { $0["names"] } == [["mike"], ["rosa"], ["mike"]])
        let byPath = try orders.aggregate([.lookup(from: "customers", localField: "customer", as: "who"), names])
        #expect(try byPath.all() == byProperty.all())
        let back = try orders.aggregate([
            .lookup(from: "orders", localField: \.shop, foreignField: "store", as: "same"),
            .set(["n": ["$size": "$same"]]),
            .project(["n": 1]),
        ])
        #expect(try back.all().map { $0["n"] } == [2, 1, 2])
    }

    @Test("Documents are sorted, limited and skipped")
    func range() throws {
        let (_, orders) = try orders()
        #expect(try ids(orders, [.sort(by: \.shop, .descending), .sort(by: \.id, .descending), .limit(2)]) == [3, 2])
        #expect(try ids(orders, [.sort(["store": 1, "_id": -1]), .skip(1)]) == [1, 2])
        #expect(throws: TansuError.self) { try ids(orders, [.limit(0)]) }
    }

    @Test("Fields are set, removed and projected, and windows computed")
    func fields() throws {
        let (_, orders) = try orders()
        let before: BSONValue = ["$sum": 1, "window": ["documents": ["unbounded", -1]]]
        let rows = try orders.aggregate([
            .window(["sortBy": ["_id": 1], "output": ["before": before]]),
            .set(["twice": ["$multiply": ["$_id", 2]]]),
            .unset("lines", "isPaid"),
            .project(["store": 0, "customer": 0]),
        ]).all()
        #expect(rows.map(\.keys).map(Array.init) == Array(repeating: ["_id", "before", "twice"], count: 3))
        #expect(rows.map { $0["twice"] } == [2, 4, 6])
        #expect(rows.map { $0["before"]?.intValue } == [0, 1, 2])
        #expect(try orders.aggregate([.count()]).all() == [["count": 3]])
    }

    @Test("A property without a stored name, or with a dot in it, is an error")
    func names() throws {
        struct Odd: Codable, Sendable {
            enum CodingKeys: String, CodingKey { case price = "a.b" }
            var price: Int
            var half: Int { price / 2 }
        }
        let odd = try patientDatabase().collection("odd", of: Odd.self)
        #expect(throws: TansuError.self) { try odd.aggregate([.group(by: \.half)]) }
        let dotted = #expect(throws: TansuError.self) { try odd.aggregate([.group(by: \.price)]) }
        #expect(dotted?.code == .invalidQuery)
    }

    @Test("What is not stored in its order is neither sorted nor compared, and values are decoded as they are stored")
    func strategies() throws {
        struct Item: Codable, Sendable { var id: Int; var price: Decimal }
        struct Price: Codable, Sendable, Equatable { var id: Decimal; var n: Int }
        let items = try patientDatabase().collection(
            "items", of: Item.self, coding: BSONCodingStrategies(decimal: .string))
        try items.save(Item(id: 1, price: 10))
        let prices = try items.aggregate([.group(by: \.price, ["n": .count])], as: Price.self)
        #expect(try prices.all() == [Price(id: 10, n: 1)])
        #expect(throws: TansuError.self) { try items.aggregate([.sort(by: \.price)]) }
        #expect(throws: TansuError.self) { try items.aggregate([.group(by: nil, ["sum": .sum(\.price)])]) }
    }
}
