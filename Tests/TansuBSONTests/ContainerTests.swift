import Foundation
import Testing

@testable import TansuBSON

/// Containers can be used in every order that Codable allows.
struct ContainerTests {
    typealias Key = BSONCodingKey

    struct Writer: Encodable {
        var write: (any Encoder) throws -> Void
        func encode(to encoder: any Encoder) throws { try write(encoder) }
    }

    func encode(_ write: @escaping (any Encoder) throws -> Void) throws -> BSONDocument {
        let document = try BSONEncoder().encode(Writer(write: write))
        // Validation detects wrong lengths.
        return try BSONDocument(bytes: document.bytes)
    }

    func key(_ name: String) -> Key { Key(stringValue: name) }

    @Test func nestedContainersMayBeWrittenAlternately() throws {
        let document = try encode { encoder in
            var top = encoder.container(keyedBy: Key.self)
            var a = top.nestedContainer(keyedBy: Key.self, forKey: key("a"))
            var b = top.nestedUnkeyedContainer(forKey: key("b"))
            try a.encode(1, forKey: key("x"))
            try b.encode("one")
            try a.encode(["deep": [1, 2]], forKey: key("y"))
            var inner = b.nestedContainer(keyedBy: Key.self)
            try a.encode("three", forKey: key("z"))
            try inner.encode(true, forKey: key("t"))
            try top.encode(9, forKey: key("c"))
            try inner.encode([3], forKey: key("u"))
            try b.encode("two")
            try a.encodeNil(forKey: key("n"))
        }
        #expect(
            document == [
                "a": ["x": 1, "y": ["deep": [1, 2]], "z": "three", "n": nil],
                "b": ["one", ["t": true, "u": [3]], "two"],
                "c": 9,
            ])
    }

    @Test func superEncodersMayBeFilledLate() throws {
        let document = try encode { encoder in
            var top = encoder.container(keyedBy: Key.self)
            let single = top.superEncoder(forKey: key("single"))
            let unused = top.superEncoder(forKey: key("unused"))
            let list = top.superEncoder(forKey: key("list"))
            let text = top.superEncoder()
            try top.encode(1, forKey: key("one"))
            var container = single.singleValueContainer()
            try container.encode("a longer text")
            var elements = list.unkeyedContainer()
            try elements.encode(1.5)
            try elements.encode(["x": 2])
            var last = text.singleValueContainer()
            try last.encode(ObjectID(high: 1, low: 2))
            _ = unused
        }
        #expect(
            document == [
                "single": "a longer text", "unused": [:], "list": [1.5, ["x": 2]],
                "super": .objectID(ObjectID(high: 1, low: 2)), "one": 1,
            ])
    }

    @Test func randomOrdersOfWritingGiveTheSameTree() throws {
        var random = SeededGenerator(seed: 9)
        for _ in 0..<200 {
            // Each container is a list of numbers. The reference model gets the same operations.
            var model: [[Int]] = []
            let seed = random.next()
            let document = try encode { encoder in
                var random = SeededGenerator(seed: seed)
                model = []
                var top = encoder.container(keyedBy: Key.self)
                var containers: [any UnkeyedEncodingContainer] = []
                for step in 0..<30 {
                    if containers.isEmpty || Int.random(in: 0..<4, using: &random) == 0 {
                        containers.append(top.nestedUnkeyedContainer(forKey: key("c\(containers.count)")))
                        model.append([])
                    } else {
                        let index = Int.random(in: containers.indices, using: &random)
                        try containers[index].encode(step)
                        model[index].append(step)
                        #expect(containers[index].count == model[index].count)
                    }
                }
            }
            let decoded = try BSONDecoder().decode([String: [Int]].self, from: document)
            #expect(decoded.count == model.count)
            for (index, list) in model.enumerated() { #expect(decoded["c\(index)"] == list) }
        }
    }

    @Test func anErrorThatIsCaughtLeavesNothingBehind() throws {
        struct Failing: Encodable {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Key.self)
                try container.encode("half", forKey: Key(stringValue: "written"))
                throw BSONError(.invalidValue, "on purpose")
            }
        }
        let document = try encode { encoder in
            var top = encoder.container(keyedBy: Key.self)
            try top.encode(1, forKey: key("a"))
            #expect(throws: BSONError.self) { try top.encode(Failing(), forKey: key("b")) }
            #expect(throws: EncodingError.self) { try top.encode(Date(timeIntervalSince1970: .nan), forKey: key("c")) }
            var list = top.nestedUnkeyedContainer(forKey: key("list"))
            #expect(throws: BSONError.self) { try list.encode(Failing()) }
            #expect(throws: EncodingError.self) { try list.encode(Date(timeIntervalSince1970: .nan)) }
            try list.encode(2)
        }
        #expect(document == ["a": 1, "list": [2]])
    }

    @Test func encodingTwoKeyedValuesInOneContainerIsAnError() {
        struct Twice: Encodable {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(["a": 1])
                try container.encode(["a": 2])
            }
        }
        #expect(throws: EncodingError.self) { try BSONEncoder().encode(Twice()) }
        #expect(throws: EncodingError.self) { try BSONEncoder().encode(["in": Twice()]) }
    }

    @Test func encodingTwiceIsAnError() {
        #expect(throws: EncodingError.self) {
            try encode { encoder in
                var container = encoder.singleValueContainer()
                try container.encode(["a": 1])
                try container.encode(["b": 1])
                try container.encode(5)
            }
        }
        #expect(throws: EncodingError.self) {
            try encode { encoder in
                _ = encoder.container(keyedBy: Key.self)
                _ = encoder.unkeyedContainer()
            }
        }
    }

    @Test func containersThatOutliveTheirCallAreRefused() throws {
        var encoding: KeyedEncodingContainer<Key>?
        _ = try encode { encoding = $0.container(keyedBy: Key.self) }
        #expect(throws: EncodingError.self) { try encoding?.encode(1, forKey: key("late")) }

        final class Thief: Decodable {
            let container: KeyedDecodingContainer<Key>
            let list: any UnkeyedDecodingContainer
            required init(from decoder: any Decoder) throws {
                container = try decoder.container(keyedBy: Key.self)
                list = try container.nestedUnkeyedContainer(forKey: Key(stringValue: "list"))
            }
        }
        let thief = try BSONDecoder().decode(Thief.self, from: ["a": 1, "list": [1]])
        #expect(throws: DecodingError.self) { try thief.container.decode(Int.self, forKey: key("a")) }
        #expect(thief.container.allKeys.isEmpty)
        var list = thief.list
        #expect(throws: DecodingError.self) { try list.decode(Int.self) }
    }

    @Test func fieldsAreFoundInAnyOrderAndAgain() throws {
        struct Reader: Decodable {
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: Key.self)
                for name in ["c", "a", "b", "b", "a", "c"] {
                    #expect(try container.decode(String.self, forKey: Key(stringValue: name)) == name)
                }
                #expect(container.contains(Key(stringValue: "d")) == false)
                #expect(container.contains(Key(stringValue: "aa")) == false)
                #expect(try container.decodeIfPresent(String.self, forKey: Key(stringValue: "x")) == nil)
                #expect(try container.decodeIfPresent(String.self, forKey: Key(stringValue: "null")) == nil)
                #expect(try container.decodeNil(forKey: Key(stringValue: "null")))
                // Two containers of one decoder read independently.
                let list = try container.superDecoder(forKey: Key(stringValue: "list"))
                var first = try list.unkeyedContainer()
                var second = try list.unkeyedContainer()
                #expect(try first.decode(Int.self) == 1)
                #expect(try second.decode(Int.self) == 1)
                #expect(first.count == 2)
                #expect(try first.decode(Int.self) == 2)
                #expect(first.isAtEnd)
                #expect(second.currentIndex == 1)
            }
        }
        _ = try BSONDecoder().decode(
            Reader.self, from: ["a": "a", "b": "b", "c": "c", "null": nil, "list": [1, 2]])
    }

    @Test func encodersMayBeUsedInsideEncoders() throws {
        let document = try encode { encoder in
            var top = encoder.container(keyedBy: Key.self)
            try top.encode("before", forKey: key("a"))
            try top.encode(BSONEncoder().encode(["x": 1]), forKey: key("b"))
            try top.encode("after", forKey: key("c"))
        }
        #expect(document == ["a": "before", "b": ["x": 1], "c": "after"])
    }
}
