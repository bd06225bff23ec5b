import Foundation
import Tansu
import Testing

@Suite("Aggregates of decimals, and decimals in collections")
struct DecimalAggregateTests {
    struct Item: Codable, Sendable, Equatable {
        var id: Int
        var price: Decimal
        var discount: Decimal?
        var weight: Double = 0
    }

    private let items: Database.Collection<Item>

    init() throws {
        items = try Database(.memory).collection("items", of: Item.self)
    }

    private func decimal(_ text: String) throws -> Decimal {
        try #require(Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")))
    }

    @Test("A mean of decimals is a decimal, or the nearest double when a double is asked for")
    func mean() throws {
        try items.save([Item(id: 1, price: try decimal("19.95")), Item(id: 2, price: 5)])
        let mean: Decimal? = try items.find().aggregate(.average(\.price))
        #expect(try mean == decimal("12.475"))
        let double: Double? = try items.find().aggregate(.average(\.price))
        #expect(double == 12.475)
        let none: Decimal? = try items.find().aggregate(.average(\.discount))
        #expect(none == nil)
        try items.save(Item(id: 3, price: 0))
        let third: Double? = try items.find().aggregate(.average(\.price))
        #expect(third == 24.95 / 3)
    }

    @Test("Without a type, a mean of decimals is a decimal and any other a double")
    func inferred() throws {
        try items.save(Item(id: 1, price: try decimal("0.1"), discount: 2, weight: 4))
        let (price, discount, weight) = try items.find().aggregate(
            .average(\.price), .average(\.discount), .average(\.weight))
        #expect(try price == decimal("0.1"))
        #expect(discount == Decimal(2) && weight == 4)
    }

    @Test("Sums and extremes of decimals are exact")
    func sums() throws {
        try items.save([Item(id: 1, price: try decimal("0.1")), Item(id: 2, price: try decimal("0.2"), discount: 1)])
        let (sum, least, greatest, discounts) = try items.find().aggregate(
            .sum(\.price), .min(\.price), .max(\.price), .sum(\.discount))
        #expect(try sum == decimal("0.3") && least == decimal("0.1") && greatest == decimal("0.2"))
        #expect(discounts == Decimal(1))
        #expect(try items.find().distinct(\.price) == [decimal("0.1"), decimal("0.2")])
    }

    @Test("A sum of decimals and doubles is rounded when a double is asked for")
    func mixed() throws {
        let documents = items.decoded(as: BSONDocument.self)
        try documents.save([
            ["_id": 1, "price": 1, "weight": 0.1], ["_id": 2, "price": 1, "weight": BSONValue(try decimal("0.2"))],
        ])
        let weight: Double = try items.find().aggregate(.sum(\.weight))
        #expect(weight == 0.3)
    }

    @Test("JSON numbers are read as decimals")
    func doubles() throws {
        try items.decoded(as: BSONDocument.self).save(["_id": 1, "price": 7.25, "discount": 7.1, "weight": 1])
        #expect(try items.get(1) == Item(id: 1, price: decimal("7.25"), discount: decimal("7.1"), weight: 1))
    }

    @Test("A quotient is saved, rounded to 34 digits, and found by the same quotient")
    func quotient() throws {
        let third = Decimal(2) / 3
        try items.save(Item(id: 1, price: third))
        let stored = try #require(try items.get(1)).price
        #expect(try stored == decimal("0.6666666666666666666666666666666667"))
        #expect(try items.find { $0.price == third }.count() == 1)
        var exact = BSONCodingStrategies()
        exact.decimal = .exactDecimal128
        #expect(throws: EncodingError.self) { try items.coding(exact).save(Item(id: 2, price: third)) }
        #expect(try items.count() == 1)
    }

    @Test("Adding a decimal is exact")
    func increment() throws {
        try items.save(Item(id: 1, price: try decimal("19.95")))
        try items.update(["_id": 1], ["$inc": ["price": BSONValue(try decimal("0.1"))]])
        try items.update(where: { $0.id == 1 }) { $0.increment(\.price, by: Decimal(1) / 4) }
        #expect(try items.get(1)?.price == decimal("20.3"))
    }
}
