import Foundation
import Logging
import Tansu
import Testing

/// Each test has the line that the log suggests once as text and once as code.
@Suite("Suggested indexes in the log")
struct IndexSuggestionTests {
    private let log: CapturingLog
    private let db: Database

    init() throws {
        let log = CapturingLog()
        self.log = log
        db = try Database(.memory, options: .init(logger: Logger(label: "test") { _ in log }, slowCallTime: .zero))
    }

    /// Looks that a slow query suggests a line that this file has as code, too, which creates the index that the query
    /// then uses.
    private func expect<Element>(
        _ line: String, for query: Database.Query<Element>, in collection: String = "orders", pasted: () throws -> Void,
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        try db.collection(collection).save((0..<500).map { document($0) })
        // A report that comes while another query is being explained has no plan.
        for _ in 0..<1000 where !log.suggestions("slow find").contains(line) {
            _ = try query.all()
            Thread.sleep(forTimeInterval: 0.005)
        }
        // A query that was made before there were documents looks at some once, which is a call of its own.
        #expect(log.suggestions("slow find").contains(line), sourceLocation: location)
        let words = { (text: String) in text.split(whereSeparator: \.isWhitespace).joined() }
        let source = words(try String(contentsOf: URL(fileURLWithPath: #filePath), encoding: .utf8))
        #expect(source.contains("{" + words(line) + "}"), "pasted", sourceLocation: location)
        #expect(try query.explain().suggestion != nil, sourceLocation: location)
        try pasted()
        let explained = try query.explain()
        #expect(explained.plan.kind == .index, sourceLocation: location)
        #expect(explained.suggestion == nil, sourceLocation: location)
    }

    @Test("Calls with await have suggestions, too")
    func async() async throws {
        let orders = try db.collection("orders", of: Shop.Order.self)
        try await db.collection("orders").save((0..<500).map { document($0) })
        let line = #"try db.collection("orders", of: Shop.Order.self).ensureIndex(on: \.state)"#
        let calls: [(String, @Sendable () async throws -> Void)] = [
            // With a limit of its own it runs on a thread of the database.
            ("slow count", { _ = try await orders.find(["state": "open"], hints: ["$maxTimeMS": 60_000]).count() }),
            ("slow find", { _ = try await orders.find(["state": "open"], hints: ["$maxTimeMS": 60_000]).all() }),
            ("slow update", { try await orders.update(["state": "open"], ["$set": ["state": "open"]]) }),
        ]
        for (kind, call) in calls {
            for _ in 0..<1000 where log.suggestions(kind).isEmpty {
                try await call()
                try await Task.sleep(for: .milliseconds(5))
            }
            #expect(Set(log.suggestions(kind)) == [line], "\(kind)")
        }
    }

    @Test("A property of the type is a key path")
    func property() throws {
        let query = try db.collection("orders", of: Shop.Order.self).find { $0.state == "open" }
        try expect(#"try db.collection("orders", of: Shop.Order.self).ensureIndex(on: \.state)"#, for: query) {
            try db.collection("orders", of: Shop.Order.self).ensureIndex(on: \.state)
        }
    }

    @Test("Several properties, through an optional one, have their directions")
    func directions() throws {
        let query = try db.collection("orders", of: Shop.Order.self)
            .find { $0.state == "open" && $0.address.city == "Rome" }.sorted(by: \.total, .descending)
        let line =
            #"try db.collection("orders", of: Shop.Order.self).ensureIndex(on: \.state, \.address?.city, \.total, "#
            + "directions: [.ascending, .ascending, .descending])"
        try expect(line, for: query) {
            try db.collection("orders", of: Shop.Order.self).ensureIndex(
                on: \.state, \.address?.city, \.total, directions: [.ascending, .ascending, .descending])
        }
    }

    @Test("A key path has the property's name, whatever the field's is")
    func otherName() throws {
        let query = try db.collection("orders", of: Shop.Order.self).find(["customer": "name 5"])
        let line = #"try db.collection("orders", of: Shop.Order.self).ensureIndex(on: \.customerName)"#
        try expect(line, for: query) {
            try db.collection("orders", of: Shop.Order.self).ensureIndex(on: \.customerName)
        }
    }

    @Test("A path through an array is no key path")
    func array() throws {
        let query = try db.collection("orders", of: Shop.Order.self).find(["lines.product": "pen 5"])
        try expect(#"try db.collection("orders").ensureIndex(on: ["lines.product": .ascending])"#, for: query) {
            try db.collection("orders").ensureIndex(on: ["lines.product": .ascending])
        }
    }

    @Test("A field that the type does not have is no key path")
    func unknownField() throws {
        let query = try db.collection("orders", of: Shop.Order.self).find(["legacy": 5])
        try expect(#"try db.collection("orders").ensureIndex(on: ["legacy": .ascending])"#, for: query) {
            try db.collection("orders").ensureIndex(on: ["legacy": .ascending])
        }
    }

    @Test("Documents and names that need an escape")
    func documents() throws {
        let query = try db.collection("say \"hi\"").find([#"a\.b"#: 5]).sorted(by: "n", .descending)
        let line = #"try db.collection("say \"hi\"").ensureIndex(on: ["a\\.b": .ascending, "n": .descending])"#
        try expect(line, for: query, in: "say \"hi\"") {
            try db.collection("say \"hi\"").ensureIndex(on: ["a\\.b": .ascending, "n": .descending])
        }
    }

    @Test("A type that a program outside its function cannot name")
    func localType() throws {
        struct Local: Codable, Sendable { var state: String }
        let query = try db.collection("orders", of: Local.self).find { $0.state == "open" }
        try expect(#"try db.collection("orders").ensureIndex(on: ["state": .ascending])"#, for: query) {
            try db.collection("orders").ensureIndex(on: ["state": .ascending])
        }
    }

    @Test("A class, whose properties need not be stored ones")
    func classes() throws {
        let query = try db.collection("orders", of: Shop.Total.self).find(["total": 5])
        try expect(#"try db.collection("orders").ensureIndex(on: ["total": .ascending])"#, for: query) {
            try db.collection("orders").ensureIndex(on: ["total": .ascending])
        }
    }

    @Test("A type that lists the names of its properties")
    func listedNames() throws {
        let query = try db.collection("orders", of: Shop.Named.self).find { $0.condition == "open" }
        try expect(#"try db.collection("orders").ensureIndex(on: ["state": .ascending])"#, for: query) {
            try db.collection("orders").ensureIndex(on: ["state": .ascending])
        }
    }

    @Test("The index that a query through a reference lacks in the other collection is suggested, too")
    func subquery() async throws {
        let (orders, customers) = (try db.collection("orders"), try db.collection("customers"))
        try await orders.save((0..<500).map { document($0) })
        try await customers.save((0..<500).map { ["_id": BSONValue("name \($0)"), "city": BSONValue($0 % 50)] })
        _ = try await orders.find(["customer": ["$in": ["$from": "customers", "$query": ["city": 7]]]]).all()
        let first =
            #"try db.collection("orders").ensureIndex(on: ["customer": .ascending]); "#
            + #"try db.collection("customers").ensureIndex(on: ["city": .ascending])"#
        #expect(await log.first("slow find").metadata["suggestion"] == first)
    }

    private func document(_ number: Int) -> BSONDocument {
        [
            "_id": BSONValue(number), "state": number % 50 == 0 ? "open" : "closed", "total": BSONValue(number % 50),
            "customer": .string("name \(number % 100)"), "lines": [["product": .string("pen \(number)")]],
            "address": ["city": number % 100 == 0 ? "Rome" : "Oslo"], "legacy": BSONValue(number % 50),
            "a.b": BSONValue(number % 50), "n": BSONValue(number),
        ]
    }
}

enum Shop {
    struct Order: Codable, Sendable, Identifiable {
        struct Line: Codable, Sendable { var product: String }
        struct Address: Codable, Sendable { var city: String }
        enum CodingKeys: String, CodingKey {
            case id, state, total, lines, address
            case customerName = "customer"
        }

        var id: Int
        var state: String
        var total: Int
        var customerName: String
        var lines: [Line]
        var address: Address?
    }

    final class Total: Codable, Sendable {
        let total: Int
    }

    struct Named: Codable, Sendable, StoredFieldNaming {
        enum CodingKeys: String, CodingKey { case condition = "state" }
        static var storedFieldNames: [PartialKeyPath<Named>: String] { [\.condition: "state"] }

        var condition: String
    }
}
