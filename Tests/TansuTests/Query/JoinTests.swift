import Tansu
import Testing

@Suite("Joined documents as values of their types")
struct JoinTests {
    struct Customer: Codable, Sendable, Equatable, Identifiable {
        var id: Int
        var name: String
    }

    struct Order: Codable, Sendable, Equatable {
        struct Line: Codable, Sendable, Equatable {
            var product: Customer?
            var count: Int
        }

        var id: Int
        var customer: Customer?
        var watchers: [Customer]?
        var lines: [Line]?
    }

    private let db: Database
    private let orders: Database.Collection<Order>
    private let join: BSONDocument = [
        "customer": ["$join": "customers"], "watchers": ["$join": "customers"], "lines.product": ["$join": "customers"],
    ]
    private let mike = Customer(id: 1, name: "mike")
    private let rosa = Customer(id: 2, name: "rosa")

    init() throws {
        db = try Database(.memory)
        try db.collection("customers", of: Customer.self).save([mike, rosa])
        orders = try db.collection("orders", of: Order.self)
    }

    @Test("Joined documents are decoded with their ids, at every level")
    func ids() throws {
        try db.collection("orders").save([
            "_id": 1, "customer": 1, "watchers": [2, 1], "lines": [["product": 2, "count": 3]],
        ])
        let order = Order(
            id: 1, customer: mike, watchers: [rosa, mike], lines: [Order.Line(product: rosa, count: 3)])
        #expect(try orders.find(hints: ["$do": .document(join)]).all() == [order])
        #expect(try orders.find(["$do": .document(join)]).first() == order)
    }

    @Test("A reference to nothing is nil, or left out of an array, and does not fail the query")
    func dangling() async throws {
        try await db.collection("orders").save([
            [
                "_id": 1, "customer": 9, "watchers": [2, 9],
                "lines": [["product": 9, "count": 3], ["product": 1, "count": 1]],
            ],
            ["_id": 2, "customer": 2],
        ])
        let query = orders.find(hints: ["$do": .document(join)])
        let expected = [
            Order(
                id: 1, customer: nil, watchers: [rosa],
                lines: [Order.Line(product: nil, count: 3), Order.Line(product: mike, count: 1)]),
            Order(id: 2, customer: rosa),
        ]
        #expect(try await query.first() == expected[0])
        #expect(try await query.all() == expected)
        var found: [Order] = []
        try query.forEach { found.append($0) }
        #expect(found == expected)
        var streamed: [Order] = []
        for try await order in query { streamed.append(order) }
        #expect(streamed == expected)
        #expect(try await query.page(size: 10).elements == expected)
        var lists = query.observe().makeAsyncIterator()
        #expect(try await lists.next() == expected)
    }

    @Test("A type that reads ids gets them")
    func references() throws {
        enum Reference: Codable, Sendable, Equatable {
            case id(Int)
            case customer(Customer)

            init(from decoder: any Decoder) throws {
                if let id = try? decoder.singleValueContainer().decode(Int.self) {
                    self = .id(id)
                } else {
                    self = .customer(try Customer(from: decoder))
                }
            }
        }
        struct Loose: Codable, Sendable, Equatable { var watchers: [Reference] }
        try db.collection("orders").save(["_id": 1, "watchers": [2, 9]])
        let found = try orders.find(hints: ["$do": .document(join)], as: Loose.self).first()
        #expect(found?.watchers == [.customer(rosa), .id(9)])
    }

    @Test("A required reference to nothing is an error that names the document")
    func required() throws {
        struct Strict: Codable, Sendable { var id: Int; var customer: Customer }
        try db.collection("orders").save([["_id": 1, "customer": 9], ["_id": 2, "customer": 2]])
        let query = orders.find(hints: ["$do": .document(join)], as: Strict.self)
        let error = #expect(throws: DecodingError.self) { try query.all() }
        #expect("\(try #require(error))".contains("_id 1"))
        #expect(try query.decoding(.skipping()).all().map(\.id) == [2])
    }
}
