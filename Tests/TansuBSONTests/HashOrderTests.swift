import Foundation
import Testing

@testable import TansuBSON

/// Sets and dictionaries whose equal values have different hash orders.
struct HashOrderTests {
    struct Tag: Codable, Hashable { var name: String; var parents: Set<String> = [] }
    enum Kind: String, Codable, Hashable, CodingKeyRepresentable, CaseIterable { case a, b, c, d, e, f, g, h }

    /// An equal value in several tables of other sizes.
    static func tables<Element: Hashable>(_ elements: [Element]) -> [Set<Element>] {
        [1, 50, 1000, 5000].map { capacity in
            var set = Set<Element>(minimumCapacity: capacity)
            for element in elements.shuffled() { set.insert(element) }
            return set
        }
    }

    static func tables<Key: Hashable, Value>(_ pairs: [(Key, Value)]) -> [[Key: Value]] {
        [1, 50, 1000, 5000].map { capacity in
            var dictionary = [Key: Value](minimumCapacity: capacity)
            for (key, value) in pairs.shuffled() { dictionary[key] = value }
            return dictionary
        }
    }

    struct Box<V: Codable & Equatable>: Codable, Equatable {
        var direct: V
        var optional: V?
        var list: [V]
        var keyed: [String: V]
    }

    struct Single<V: Codable>: Encodable {
        var value: V
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(value)
        }
    }

    func check<T: Codable & Equatable>(_ values: [T], sourceLocation: SourceLocation = #_sourceLocation) throws {
        let boxes = values.map { Box(direct: $0, optional: $0, list: [$0, $0], keyed: ["b": $0, "a": $0]) }
        let documents = try boxes.map { try BSONEncoder().encode($0) }
        #expect(Set(documents).count == 1, sourceLocation: sourceLocation)
        #expect(try BSONDecoder().decode(Box<T>.self, from: documents[0]) == boxes[0], sourceLocation: sourceLocation)
        let stored = try values.map { try BSONEncoder().encodeValue($0) }
        #expect(Set(stored).count == 1, sourceLocation: sourceLocation)
        #expect(try BSONEncoder().encodeValue(Single(value: values[0])) == stored[0], sourceLocation: sourceLocation)
        let bytes = documents[0].withUnsafeBytes { Array($0) }
        #expect(try BSONDocument(bytes: bytes) == documents[0], sourceLocation: sourceLocation)
    }

    @Test func sets() throws {
        try check(Self.tables((0..<120).map { "t\($0)" }))
        try check(Self.tables(Array(0..<120)))
        try check(Self.tables((0..<20).map { _ in UUID() }))
        try check(Self.tables((0..<20).map { Date(timeIntervalSince1970: Double($0)) }))
        try check(Self.tables((0..<20).map { $0 % 3 == 0 ? nil : $0 }))
        try check(Self.tables((0..<20).map { BSONValue($0) } + [.null, "text", [1, 2], ["a": 1]]))
        try check(Self.tables((0..<20).map { Tag(name: "t\($0)", parents: ["a", "b", "c", "\($0)"]) }))
        try check(Self.tables((0..<20).map { Set((0..<$0).map { "x\($0)" }) }))
        try check([Set<Int>(), []])
    }

    @Test func dictionaries() throws {
        try check(Self.tables((0..<120).map { ("k\($0)", $0) }))
        try check(Self.tables((0..<120).map { ($0, "v\($0)") }))
        try check(Self.tables((0..<20).map { (UUID(), $0) }))
        try check(Self.tables((0..<20).map { (ObjectID(), [$0: "x", $0 + 1: "y"]) }))
        try check(Self.tables(Kind.allCases.map { ($0, Set(["x", "y", "z", $0.rawValue])) }))
        try check(Self.tables((0..<20).map { (Double($0) / 7, ["a": $0, "b": $0, "c": $0]) }))
        try check(Self.tables((0..<20).map { (Tag(name: "\($0)"), Tag(name: "v\($0)")) }))
        try check(Self.tables([("", 1), ("a", 2), ("é", 3), ("😀", 4), ("ab", 5)]))
    }

    @Test func topLevelDictionaries() throws {
        let documents = try Self.tables((0..<40).map { ("k\($0)", ["x": $0, "y": $0]) }).map {
            try BSONEncoder().encode($0)
        }
        #expect(Set(documents).count == 1)
        #expect(documents[0].keys == documents[0].keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
    }

    @Test func setsInClosedContainers() throws {
        struct Late: Encodable {
            struct Key: CodingKey {
                var stringValue: String
                var intValue: Int? { nil }
                init(_ text: String) { stringValue = text }
                init?(stringValue: String) { self.init(stringValue) }
                init?(intValue: Int) { nil }
            }
            let tags: Set<String>
            func encode(to encoder: any Encoder) throws {
                var top = encoder.container(keyedBy: Key.self)
                var inner = top.nestedContainer(keyedBy: Key.self, forKey: Key("inner"))
                let slot = top.superEncoder(forKey: Key("slot"))
                try top.encode(1, forKey: Key("a"))
                try inner.encode(tags, forKey: Key("tags"))
                var single = slot.singleValueContainer()
                try single.encode(tags)
                try top.encode(2, forKey: Key("b"))
            }
        }
        let documents = try Self.tables((0..<30).map { "t\($0)" }).map { try BSONEncoder().encode(Late(tags: $0)) }
        #expect(Set(documents).count == 1)
        #expect(documents[0]["a"] == 1 && documents[0]["b"] == 2)
        #expect(documents[0]["slot"] == documents[0][path: "inner.tags"])
        #expect(documents[0]["slot"]?.arrayValue?.count == 30)
    }

    @Test func writersOfTheirOwnFields() throws {
        struct Direct: Encodable, BSONWritable {
            let tags: Set<String>
            func write(to fields: inout BSONFieldWriter) throws { try fields.write("tags", tags) }
        }
        let documents = try Self.tables((0..<30).map { "t\($0)" }).map { try BSONEncoder().encode(Direct(tags: $0)) }
        #expect(Set(documents).count == 1)
    }
}
