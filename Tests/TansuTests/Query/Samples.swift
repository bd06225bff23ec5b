import Foundation
import Tansu
import TansuTestSupport

/// A document with a property of every kind that queries treat in a way of its own.
struct Sample: Codable, Sendable, Identifiable {
    enum Kind: String, Codable, Sendable, CaseIterable { case cat, dog, bird }

    struct Inner: Codable, Sendable, Hashable {
        enum CodingKeys: String, CodingKey {
            case text = "t"
            case number
            case list
        }
        var text: String
        var number: Int?
        var list: [Int]?
    }

    enum CodingKeys: String, CodingKey {
        case id, whole, part, text, flag, kind, tags, inner, inners, map, when
        case maybeWhole = "w?"
        case maybePart = "p"
        case maybeText = "x.y"
        case maybeFlag, maybeKind, maybeNumbers
    }

    var id: Int
    var whole: Int
    var maybeWhole: Int?
    var part: Double
    var maybePart: Double?
    var text: String
    var maybeText: String?
    var flag: Bool
    var maybeFlag: Bool?
    var kind: Kind
    var maybeKind: Kind?
    var tags: Set<String>
    var maybeNumbers: [Int]?
    var inner: Inner?
    var inners: [Inner]
    var map: [String: Int]
    var when: Date
}

/// Makes random values, few different ones, so that they meet.
struct Maker {
    static let wholes = [-7, -3, -1, 0, 1, 2, 3, 4, 1 << 40]
    static let parts = [-.infinity, -1.5, -0.0, 0.0, 0.5, 3, .infinity, .nan]
    static let texts = ["", "a", "A", "ab", "ba", "b", "straße", "STRASSE", "é", "1"]

    var generator: SeededGenerator

    mutating func whole() -> Int { pick(Self.wholes) }
    mutating func part() -> Double { pick(Self.parts) }
    mutating func text() -> String { pick(Self.texts) }
    mutating func kind() -> Sample.Kind { pick(Sample.Kind.allCases) }
    mutating func flag() -> Bool { Bool.random(using: &generator) }
    mutating func date() -> Date { Date(timeIntervalSince1970: Double(whole())) }

    mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int(generator.next() % UInt64(values.count))]
    }

    mutating func maybe<Value>(_ make: (inout Maker) -> Value) -> Value? { flag() ? make(&self) : nil }

    mutating func list<Value>(_ make: (inout Maker) -> Value) -> [Value] {
        (0..<Int(generator.next() % 4)).map { _ in make(&self) }
    }

    mutating func inner() -> Sample.Inner {
        Sample.Inner(text: text(), number: maybe { $0.whole() }, list: maybe { $0.list { $0.whole() } })
    }

    mutating func sample(_ id: Int) -> Sample {
        Sample(
            id: id, whole: whole(), maybeWhole: maybe { $0.whole() }, part: part(), maybePart: maybe { $0.part() },
            text: text(), maybeText: maybe { $0.text() }, flag: flag(), maybeFlag: maybe { $0.flag() }, kind: kind(),
            maybeKind: maybe { $0.kind() }, tags: Set(list { $0.text() }),
            maybeNumbers: maybe { $0.list { $0.whole() } },
            inner: maybe { $0.inner() }, inners: list { $0.inner() },
            map: Dictionary(list { ($0.pick(["a", "b.c", "0"]), $0.whole()) }) { first, _ in first }, when: date())
    }
}
