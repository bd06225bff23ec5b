import Foundation
import Testing

@testable import TansuBSON

/// Errors have a kind and a coding path.
struct CodingErrorTests {
    struct Inner: Codable { var n: Int8 }
    struct Outer: Codable { var list: [[String: Inner]] }

    func path(_ keys: [any CodingKey]) -> String {
        keys.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
    }

    func decodingError(_ document: BSONDocument) -> DecodingError? {
        #expect(throws: DecodingError.self) { try BSONDecoder().decode(Outer.self, from: document) }
    }

    @Test func aMissingFieldIsNamed() {
        guard case .keyNotFound(let key, let context) = decodingError(["list": [[:], ["a": ["m": 1]]]]) else {
            Issue.record("expected keyNotFound")
            return
        }
        #expect(key.stringValue == "n")
        #expect(path(context.codingPath) == "list.1.a")
    }

    @Test func aWrongTypeIsLocated() {
        guard case .typeMismatch(let type, let context) = decodingError(["list": [["a": ["n": "x"]]]]) else {
            Issue.record("expected typeMismatch")
            return
        }
        #expect(type is Int8.Type)
        #expect(path(context.codingPath) == "list.0.a.n")
    }

    @Test func anUnexpectedNullIsLocated() {
        guard case .valueNotFound(_, let context) = decodingError(["list": [["a": ["n": nil]]]]) else {
            Issue.record("expected valueNotFound")
            return
        }
        #expect(path(context.codingPath) == "list.0.a.n")
    }

    @Test(arguments: [BSONValue.int32(128), .int64(-129), .double(1.5), .double(.nan), .decimal128(.nan)])
    func numbersThatDoNotFitAreRefused(_ value: BSONValue) {
        guard case .dataCorrupted(let context) = decodingError(["list": [["a": ["n": value]]]]) else {
            Issue.record("expected dataCorrupted")
            return
        }
        #expect(path(context.codingPath) == "list.0.a.n")
    }

    @Test func numbersConvertBetweenTypesWhenThatIsExact() throws {
        struct Box<T: Decodable>: Decodable { var v: T }
        func decode<T: Decodable>(_ type: T.Type, _ value: BSONValue) throws -> T {
            let document: BSONDocument = ["v": value]
            return try BSONDecoder().decode(Box<T>.self, from: document).v
        }
        let fromDouble = try decode(Int.self, .double(3))
        #expect(fromDouble == 3)
        let decimal = try #require(Decimal128("3.0"))
        let fromDecimal = try decode(Int.self, .decimal128(decimal))
        #expect(fromDecimal == 3)
        let fromInteger = try decode(Double.self, .int64(1 << 60))
        #expect(fromInteger == 0x1p60)
        #expect(throws: DecodingError.self) { try decode(Double.self, .int64(.max)) }
        #expect(throws: DecodingError.self) { try decode(UInt.self, .int32(-1)) }
        #expect(throws: DecodingError.self) { try decode(Bool.self, .int32(1)) }
        #expect(throws: DecodingError.self) { try decode(Int.self, .bool(true)) }
        let rounded = try decode(Float.self, .double(0.1))
        #expect(rounded == 0.1)
        #expect(throws: DecodingError.self) { try decode(Float.self, .double(1e300)) }
    }

    @Test func anArrayThatIsTooShortIsAnError() {
        struct Pair: Decodable {
            init(from decoder: any Decoder) throws {
                var container = try decoder.unkeyedContainer()
                _ = try container.decode(Int.self)
                _ = try container.decode(Int.self)
            }
        }
        #expect(throws: DecodingError.self) { try BSONDecoder().decode([String: Pair].self, from: ["p": [1]]) }
    }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    @Test func numbersOverDecimal128AreRefused() throws {
        struct Big: Encodable { var list: [UInt128] }
        let error = #expect(throws: EncodingError.self) { try BSONEncoder().encode(Big(list: [1, .max])) }
        #expect(try path(#require(error).context.codingPath) == "list.1")
    }

    @Test func keysWithNULAreRefused() throws {
        let error = #expect(throws: EncodingError.self) { try BSONEncoder().encode(["a": ["b\0c": 1]]) }
        #expect(try path(#require(error).context.codingPath) == "a.b\0c")
    }

    @Test func whatIsNotADocumentIsRefusedAtTheTop() {
        #expect(throws: EncodingError.self) { try BSONEncoder().encode(5) }
        #expect(throws: EncodingError.self) { try BSONEncoder().encode([1]) }
        #expect(throws: EncodingError.self) { try BSONEncoder().encode(ObjectID()) }
        struct Nothing: Encodable { func encode(to encoder: any Encoder) throws {} }
        #expect(throws: EncodingError.self) { try BSONEncoder().encode(Nothing()) }
    }

    @Test func endlessNestingIsRefused() {
        struct Endless: Encodable {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: BSONCodingKey.self)
                try container.encode(Endless(), forKey: BSONCodingKey(stringValue: "again"))
            }
        }
        #expect(throws: EncodingError.self) { try BSONEncoder().encode(Endless()) }
    }

    @Test func invalidBytesAreRefusedBeforeDecoding() {
        #expect(throws: BSONError.self) { try BSONDecoder().decode([String: Int].self, from: [1, 2, 3] as [UInt8]) }
    }
}
