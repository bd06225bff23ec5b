import Foundation
import Tansu

// Types whose decoders do what a decoder may: trap, throw, count, ask in another order.

/// Counts what decoders saw.
final class Sightings: @unchecked Sendable {
    private let lock = NSLock()
    private var seen: [String] = []

    func note(_ value: String) { lock.withLock { seen.append(value) } }
    var all: [String] { lock.withLock { seen } }
}

/// Its decoder ends the process for a number that it does not know.
struct Trapping: Codable, Sendable, Equatable {
    enum CodingKeys: String, CodingKey { case id, q, label = "l" }
    var id: Int
    var q: Int
    var label: String

    init(id: Int, q: Int, label: String) { (self.id, self.q, self.label) = (id, q, label) }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(Int.self, forKey: .id)
        q = try container.decode(Int.self, forKey: .q)
        guard (1...9).contains(q) else { preconditionFailure("an unknown number") }
        label = try container.decode(String.self, forKey: .label)
    }
}

/// Its decoder keeps what it saw.
struct Counting: Codable, Sendable, Equatable {
    static let sightings = Sightings()
    enum CodingKeys: String, CodingKey { case id, code = "c" }
    var id: Int
    var code: String

    init(id: Int, code: String) { (self.id, self.code) = (id, code) }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(Int.self, forKey: .id)
        code = try container.decode(String.self, forKey: .code)
        Self.sightings.note("\(id) \(code)")
    }
}

/// Goes on whatever a container throws.
struct Insistent: Codable, Sendable, Equatable {
    static let sightings = Sightings()
    var id: Int
    var name: String

    init(id: Int, name: String) { (self.id, self.name) = (id, name) }

    init(from decoder: any Decoder) throws {
        for _ in 0..<2 {
            if let container = try? decoder.container(keyedBy: CodingKeys.self) {
                id = (try? container.decode(Int.self, forKey: .id)) ?? -1
                name = (try? container.decode(String.self, forKey: .name)) ?? "none"
                Self.sightings.note("keyed \(id) \(name)")
                return
            }
            if let value = try? decoder.singleValueContainer() { Self.sightings.note("single \(value.decodeNil())") }
            if let values = try? decoder.unkeyedContainer() { Self.sightings.note("array \(values.isAtEnd)") }
        }
        (id, name) = (0, "")
    }
}

/// Text that must look like an address.
struct Email: Codable, Sendable, Hashable, QueryComparable, Comparable {
    var text: String
    init(_ text: String) { self.text = text }
    init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard text.contains("@") else { throw CancellationError() }
        self.text = text
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
    static func < (a: Email, b: Email) -> Bool { a.text < b.text }
}

/// Text that must be "amount currency".
struct Money: Codable, Sendable, Hashable, QueryValue {
    var cents: Int
    var currency: String
    init(_ cents: Int, _ currency: String) { (self.cents, self.currency) = (cents, currency) }
    init(from decoder: any Decoder) throws {
        let parts = try decoder.singleValueContainer().decode(String.self).split(separator: " ")
        guard parts.count == 2, let cents = Int(parts[0]) else { throw CancellationError() }
        self.init(cents, String(parts[1]))
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode("\(cents) \(currency)")
    }
}

/// An enum that says its case in a field of its own.
enum Payment: Codable, Sendable, Equatable {
    case card(String)
    case cash
    private enum CodingKeys: String, CodingKey { case kind, number }
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        switch try container.decode(String.self, forKey: .kind) {
        case "card": self = .card(try container.decode(String.self, forKey: .number))
        case "cash": self = .cash
        default: throw CancellationError()
        }
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .card(let number):
            try container.encode("card", forKey: .kind)
            try container.encode(number, forKey: .number)
        case .cash: try container.encode("cash", forKey: .kind)
        }
    }
}

enum Priority: Int, Codable, Sendable, CaseIterable {
    case low = 1, high = 5, urgent = 9
    var label: String { "\(self)" }
}

struct Color: OptionSet, Codable, Sendable, Hashable {
    let rawValue: Int
}

protocol SoftDeletable {
    var deletedAt: Date? { get }
}

/// A customer with members of all these types.
struct Customer: Codable, Sendable, Identifiable, SoftDeletable {
    enum CodingKeys: String, CodingKey {
        case id, email, balance, payment, calendar, priority, colors, deletedAt, home, address
        case displayName = "display_name"
        case backup = "backup_email"
    }
    struct Address: Codable, Sendable, Hashable {
        enum CodingKeys: String, CodingKey { case id, city = "town", email }
        var id: Int
        var city: String
        var email: Email?
    }
    var id: UUID
    var displayName: String
    var email: Email
    var backup: Email?
    var balance: Money
    var payment: Payment
    var calendar: Calendar
    var priority: Priority
    var colors: Color?
    var deletedAt: Date?
    var home: Address?
    var address: Address

    var isPrivate: Bool { home == nil }
}

/// Stores a number in another form than the property has.
struct Shifted: Codable, Sendable {
    enum CodingKeys: CodingKey { case number }
    var number: Int
    init(number: Int) { self.number = number }
    init(from decoder: any Decoder) throws {
        number = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .number) - 1
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(number + 1, forKey: .number)
    }
}

/// The names of its properties and of its keys have nothing in common, and two are swapped.
struct Renaming: Codable, Sendable, Equatable {
    enum Keys: String, CodingKey { case n, second = "first", first = "second" }
    var id: Int = 0
    var name: String
    var first: Int
    var second: Int
    init(name: String, first: Int, second: Int) { (self.name, self.first, self.second) = (name, first, second) }
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        name = try container.decode(String.self, forKey: .n)
        first = try container.decode(Int.self, forKey: .first)
        second = try container.decode(Int.self, forKey: .second)
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(name, forKey: .n)
        try container.encode(first, forKey: .first)
        try container.encode(second, forKey: .second)
    }
}

/// Decodes the value of another type first, with keys that two of its own properties have too.
struct Flattened: Codable, Sendable {
    enum CodingKeys: String, CodingKey { case name = "title", extra }
    struct Base: Codable, Sendable { var name: String }
    var base: Base
    var name: String
    var extra: Int
    init(base: Base, name: String, extra: Int) { (self.base, self.name, self.extra) = (base, name, extra) }
    init(from decoder: any Decoder) throws {
        base = try Base(from: decoder)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decode(String.self, forKey: .name)
        extra = try container.decode(Int.self, forKey: .extra)
    }
    func encode(to encoder: any Encoder) throws {
        try base.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
        try container.encode(extra, forKey: .extra)
    }
}

@propertyWrapper
struct Trimmed: Codable, Sendable, Equatable {
    private var text: String
    var wrappedValue: String {
        get { text }
        set { text = newValue.trimmingCharacters(in: .whitespaces) }
    }
    init(wrappedValue: String) { text = wrappedValue.trimmingCharacters(in: .whitespaces) }
    init(from decoder: any Decoder) throws {
        self.init(wrappedValue: try decoder.singleValueContainer().decode(String.self))
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

/// Wrapped and observed properties, without and with a sample.
struct Wrapping: Codable, Sendable, Equatable {
    var id: Int
    @Trimmed var title: String
    var count: Int { didSet { count = max(count, 0) } }
}

struct Sampled: Codable, Sendable, Equatable, QuerySampleProviding {
    enum CodingKeys: String, CodingKey { case id = "_id", title = "t", count, shifted }
    static let querySample = Sampled(id: 1, title: "a", count: 2, shifted: 3)
    var id: Int
    @Trimmed var title: String
    var count: Int { didSet { count = max(count, 0) } }
    var shifted: Int
    var upper: String { title.uppercased() }

    init(id: Int, title: String, count: Int, shifted: Int) {
        (self.id, self.count, self.shifted) = (id, count, shifted)
        self.title = title
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(_title, forKey: .title)
        try container.encode(count, forKey: .count)
        try container.encode(shifted + 10, forKey: .shifted)
    }
}

/// Properties of size 0, which share their offset with the next ones.
struct Empties: Codable, Sendable {
    enum Only: String, Codable, Sendable { case one }
    var only: Only
    var number: Int
    var other: Only
    var text: String
}

/// Names an `id` that no field has.
struct Misnamed: Codable, Sendable, StoredFieldNaming {
    var id: Int
    var size: Int
    static var storedFieldNames: [PartialKeyPath<Misnamed>: String] { [\.id: "id"] }
}

/// A constraint of generic code that names its own property.
protocol Versioned: StoredFieldNaming {
    var version: Int { get }
}

extension Versioned {
    static var storedFieldNames: [PartialKeyPath<Self>: String] { [\.version: "v"] }
}

struct Draft: Codable, Sendable, Versioned, Identifiable {
    enum CodingKeys: String, CodingKey { case id, version = "v", text }
    var id: Int
    var version: Int
    var text: String
}

class Vehicle: Codable, @unchecked Sendable {
    enum CodingKeys: String, CodingKey { case name = "n", wheels }
    var name: String
    final var wheels: Int
    var title: String { name.isEmpty ? "none" : name }
    init(name: String, wheels: Int) { (self.name, self.wheels) = (name, wheels) }
}

final class Truck: Vehicle, @unchecked Sendable {
    enum CodingKeys: String, CodingKey { case load }
    var load: Int
    init(name: String, wheels: Int, load: Int) {
        self.load = load
        super.init(name: name, wheels: wheels)
    }
    required init(from decoder: any Decoder) throws {
        load = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .load)
        try super.init(from: decoder)
    }
    override func encode(to encoder: any Encoder) throws {
        try super.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(load, forKey: .load)
    }
}

/// Inherits its decoder: what it adds is not stored.
final class Bicycle: Vehicle, @unchecked Sendable {
    var bell = true
}
