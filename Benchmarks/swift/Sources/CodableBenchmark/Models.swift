import Foundation
import TansuBSON

/// A flat struct of eight fields, to which the goal of the benchmark applies.
struct Person: Codable, Equatable, Sendable {
    var id: Int
    var name: String
    var email: String
    var city: String
    var age: Int
    var score: Double
    var isActive: Bool
    var visits: Int64

    static let sample = Person(
        id: 4711, name: "Mike Miller", email: "mike.miller@example.com", city: "Springfield", age: 42, score: 98.75,
        isActive: true, visits: 1_234_567_890_123)
}

/// A flat struct with types that Codable does not support natively: an id, dates, a UUID and data.
struct Event: Codable, Equatable, Sendable {
    var id: ObjectID
    var kind: String
    var created: Date
    var changed: Date?
    var token: UUID
    var payload: Data
    var level: Int
    var note: String?

    static let sample = Event(
        id: ObjectID("5f1a2b3c4d5e6f7011223344") ?? ObjectID(), kind: "login",
        created: Date(timeIntervalSince1970: 1_700_000_000), changed: Date(timeIntervalSince1970: 1_700_000_001),
        token: UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)), payload: Data([1, 2, 3, 4]),
        level: 3, note: nil)
}

/// A value with nested documents and arrays.
struct Order: Codable, Equatable, Sendable {
    struct Line: Codable, Equatable, Sendable {
        var article: String
        var count: Int
        var price: Double
    }
    struct Address: Codable, Equatable, Sendable {
        var city: String
        var zip: String
    }
    var id: Int
    var customer: Person
    var address: Address
    var lines: [Line]
    var tags: [String]

    static let sample = Order(
        id: 1, customer: .sample, address: Address(city: "Springfield", zip: "12345"),
        lines: (0..<6).map { Line(article: "article \($0)", count: $0, price: Double($0) * 1.25) },
        tags: ["new", "express", "gift"])
}

/// Many numbers.
struct Series: Codable, Equatable, Sendable {
    var name: String
    var values: [Double]

    static let sample = Series(name: "temperature", values: (0..<256).map { Double($0) * 0.5 })
}
