import Foundation
import Testing

@testable import TansuBSON

/// The limits of coding.
struct CodableLimitTests {
    typealias Key = BSONCodingKey

    @available(macOS 15.0, *)
    @Test func integersOf128BitsAreStoredWhereTheyFitIntoADecimal128() throws {
        struct Wide: Codable, Equatable { var a: Int128; var b: UInt128; var c: [Int128]; var d: Int128? }
        let wide = Wide(a: -5, b: 1 << 40, c: [Int128(Int64.min), Int128(Int64.max)], d: 7)
        let document = try BSONEncoder().encode(wide)
        #expect(document.map(\.value.type) == [.int64, .int64, .array, .int64])
        #expect(try BSONDecoder().decode(Wide.self, from: document) == wide)
        let large = Wide(a: 1 << 64, b: 1 << 100, c: [1, Int128(Int64.min) - 1], d: nil)
        let larger = try BSONEncoder().encode(large)
        #expect(larger.map(\.value.type) == [.decimal128, .decimal128, .array])
        #expect(larger["c"]?.arrayValue?.map(\.type) == [.int64, .decimal128])
        #expect(try BSONDecoder().decode(Wide.self, from: larger) == large)
        let error = #expect(throws: EncodingError.self) {
            try BSONEncoder().encode(Wide(a: 1, b: 1, c: [1, 1 << 120], d: nil))
        }
        let context = try #require(error).context
        #expect(context.codingPath.map(\.stringValue) == ["c", "Index 1"])
        #expect(throws: EncodingError.self) { try BSONEncoder().encode(Wide(a: 1, b: .max, c: [], d: nil)) }
        #expect(throws: DecodingError.self) {
            try BSONDecoder().decode(Wide.self, from: ["a": 1, "b": -1, "c": []])
        }
    }

    @Test func numbersThatAreNotFiniteAreStored() throws {
        let numbers = [Double.infinity, -.infinity, .nan, -0.0]
        let document = try BSONEncoder().encode(["n": numbers])
        #expect(document["n"] == [.double(.infinity), .double(-.infinity), .double(.nan), .double(-0.0)])
        let back = try BSONDecoder().decode([String: [Double]].self, from: document)["n"] ?? []
        #expect(back.map(\.bitPattern) == numbers.map(\.bitPattern))
        let floats = try BSONDecoder().decode([String: [Float]].self, from: document)["n"] ?? []
        #expect(floats.map(\.isNaN) == [false, false, true, false])
    }

    /// No document has a key with a NUL, but the bytes after a shorter key may match the rest of it.
    @Test func aKeyWithNULFindsNothing() throws {
        struct Spy: Decodable {
            var found: Bool
            init(from decoder: any Decoder) throws {
                found = try decoder.container(keyedBy: Key.self).contains(Key(stringValue: "a\0b"))
            }
        }
        #expect(try !BSONDecoder().decode(Spy.self, from: ["a": .int32(0x62)]).found)
        #expect(try !BSONDecoder().decode(Spy.self, from: ["a": .int64(0x62)]).found)
    }

    /// This is documented. Looking for duplicates of every key would make all types slower.
    @Test func twoValuesUnderOneKeyAreTwoFields() throws {
        struct Twice: Encodable {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Key.self)
                try container.encode(1, forKey: Key(stringValue: "a"))
                try container.encode(2, forKey: Key(stringValue: "a"))
            }
        }
        let document = try BSONEncoder().encode(Twice())
        #expect(document.keys == ["a", "a"])
        #expect(document["a"] == 1)
    }

    @Test func nestedContainersReportTheirPath() throws {
        struct Deep: Codable {
            var paths: [[String]] = []
            init() {}
            init(from decoder: any Decoder) throws {
                let top = try decoder.container(keyedBy: Key.self)
                var list = try top.nestedUnkeyedContainer(forKey: Key(stringValue: "list"))
                _ = try list.decode(Int.self)
                let inner = try list.nestedContainer(keyedBy: Key.self)
                let above = try top.superDecoder(forKey: Key(stringValue: "above"))
                paths = [top.codingPath, list.codingPath, inner.codingPath, above.codingPath]
                    .map { $0.map(\.stringValue) }
            }
            func encode(to encoder: any Encoder) throws {
                var top = encoder.container(keyedBy: Key.self)
                var list = top.nestedUnkeyedContainer(forKey: Key(stringValue: "list"))
                try list.encode(1)
                let inner = list.nestedContainer(keyedBy: Key.self)
                let above = top.superEncoder(forKey: Key(stringValue: "above"))
                let paths = [top.codingPath, list.codingPath, inner.codingPath, above.codingPath]
                #expect(paths.map { $0.map(\.stringValue) } == Self.expected)
            }
            static let expected = [["in"], ["in", "list"], ["in", "list", "Index 1"], ["in", "above"]]
        }
        let document = try BSONEncoder().encode(["in": Deep()])
        #expect(document == ["in": ["list": [1, [:]], "above": [:]]])
        #expect(try BSONDecoder().decode([String: Deep].self, from: document)["in"]?.paths == Deep.expected)
    }

    /// Each thread caches its states. The states of threads that ended are reused.
    @Test func statesOfEndedThreadsAreReused() async throws {
        for _ in 0..<20 {
            let value: Int = try await withCheckedThrowingContinuation { continuation in
                Thread.detachNewThread {
                    continuation.resume(
                        with: Result {
                            let document = try BSONEncoder().encode(["a": ["b": 5]])
                            let back = try BSONDecoder().decode([String: [String: Int]].self, from: document)
                            return back["a"]?["b"] ?? 0
                        })
                }
            }
            #expect(value == 5)
        }
    }

    /// A cached state must not keep objects of the caller alive.
    @Test func codersDoNotRetainTheirOptions() throws {
        final class Token: Sendable {}
        let key = try #require(CodingUserInfoKey(rawValue: "token"))
        weak var encoded: Token?
        weak var decoded: Token?
        do {
            let (first, second) = (Token(), Token())
            (encoded, decoded) = (first, second)
            var encoder = BSONEncoder()
            encoder.userInfo[key] = first
            var decoder = BSONDecoder()
            decoder.userInfo[key] = second
            let document = try encoder.encode(["a": 1])
            #expect(try decoder.decode([String: Int].self, from: document) == ["a": 1])
        }
        #expect(encoded == nil)
        #expect(decoded == nil)
    }

    @Test func codersMayBeUsedInsideCoders() throws {
        struct Boxed: Codable, Equatable {
            var depth: Int
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                let inner = depth == 0 ? [:] : try BSONEncoder().encode(Boxed(depth: depth - 1))
                try container.encode(["depth": .int32(Int32(depth)), "inner": .document(inner)] as BSONDocument)
            }
            init(depth: Int) { self.depth = depth }
            init(from decoder: any Decoder) throws {
                let document = try decoder.singleValueContainer().decode(BSONDocument.self)
                depth = document["depth"]?.intValue ?? -1
                if depth > 0, let inner = document["inner"]?.documentValue {
                    let below = try BSONDecoder().decode(Boxed.self, from: inner)
                    #expect(below.depth == depth - 1)
                }
            }
        }
        #expect(try BSONDecoder().decode(Boxed.self, from: BSONEncoder().encode(Boxed(depth: 5))) == Boxed(depth: 5))
    }
}
