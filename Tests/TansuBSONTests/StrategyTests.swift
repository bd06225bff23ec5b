import Foundation
import Testing

@testable import TansuBSON

struct StrategyTests {
    struct Box<T: Codable & Equatable>: Codable, Equatable { var v: T }

    func check<T: Codable & Equatable>(
        _ value: T, stored: BSONValue, encoder: BSONEncoder = BSONEncoder(), decoder: BSONDecoder = BSONDecoder()
    ) throws {
        #expect(try encoder.encode(Box(v: value)) == ["v": stored])
        #expect(try decoder.decode(Box<T>.self, from: ["v": stored]) == Box(v: value))
        // The same through a single value container, as arrays and optionals use it.
        #expect(try encoder.encode(Box(v: [Optional(value)])) == ["v": [stored]])
        #expect(try decoder.decode(Box<[T?]>.self, from: ["v": [stored]]) == Box(v: [value]))
    }

    static let date = Date(timeIntervalSince1970: 1_700_000_000.25)

    @Test(
        arguments: [
            (.bsonDate, .date(1_700_000_000_250)),
            (.iso8601, "2023-11-14T22:13:20.250Z"),
            (.secondsSince1970, 1_700_000_000.25),
            (.millisecondsSince1970, .int64(1_700_000_000_250)),
            (.deferredToDate, .double(date.timeIntervalSinceReferenceDate)),
            (
                .custom(
                    encode: { ["days": .double($0.timeIntervalSince1970 / 86400)] },
                    decode: {
                        Date(timeIntervalSince1970: ($0.documentValue?["days"]?.doubleValue ?? 0) * 86400)
                    }),
                ["days": .double(date.timeIntervalSince1970 / 86400)]
            ),
        ] as [(BSONDateStrategy, BSONValue)])
    func dates(_ strategy: BSONDateStrategy, _ stored: BSONValue) throws {
        var encoder = BSONEncoder()
        encoder.dateStrategy = strategy
        var decoder = BSONDecoder()
        decoder.dateStrategy = strategy
        try check(Self.date, stored: stored, encoder: encoder, decoder: decoder)
    }

    @Test func whatACustomStrategyThrowsHasThePathOfTheField() throws {
        struct Refused: Error {}
        let refuse = BSONDateStrategy.custom(encode: { _ in throw Refused() }, decode: { _ in throw Refused() })
        var encoder = BSONEncoder()
        encoder.dateStrategy = refuse
        let unwritten = #expect(throws: EncodingError.self) { try encoder.encode(["a": [Self.date]]) }
        let unwrittenContext = try #require(unwritten).context
        #expect(unwrittenContext.codingPath.map(\.stringValue) == ["a", "Index 0"])
        #expect(unwrittenContext.underlyingError is Refused)
        var decoder = BSONDecoder()
        decoder.dateStrategy = refuse
        let unread = #expect(throws: DecodingError.self) {
            try decoder.decode([String: [Date]].self, from: ["a": [1]])
        }
        guard case .dataCorrupted(let context)? = unread else {
            Issue.record("expected dataCorrupted")
            return
        }
        #expect(context.codingPath.map(\.stringValue) == ["a", "Index 0"])
        #expect(context.underlyingError is Refused)
    }

    @Test func datesOutOfRangeAreRefused() {
        #expect(throws: EncodingError.self) { try BSONEncoder().encode(Box(v: Date(timeIntervalSince1970: 1e300))) }
        var encoder = BSONEncoder()
        encoder.dateStrategy = .iso8601
        #expect(throws: EncodingError.self) { try encoder.encode(Box(v: Date(timeIntervalSince1970: 1e12))) }
    }

    @Test func data() throws {
        let data = Data([0, 1, 255])
        try check(data, stored: .binary(BSONBinary([0, 1, 255])))
        var encoder = BSONEncoder()
        encoder.dataStrategy = .base64
        var decoder = BSONDecoder()
        decoder.dataStrategy = .base64
        try check(data, stored: "AAH/", encoder: encoder, decoder: decoder)
        #expect(throws: DecodingError.self) { try decoder.decode(Box<Data>.self, from: ["v": "***"]) }
    }

    @Test func uuids() throws {
        let uuid = UUID()
        try check(uuid, stored: .binary(BSONBinary(uuid)))
        var encoder = BSONEncoder()
        encoder.uuidStrategy = .string
        var decoder = BSONDecoder()
        decoder.uuidStrategy = .string
        try check(uuid, stored: .string(uuid.uuidString), encoder: encoder, decoder: decoder)
        #expect(throws: DecodingError.self) {
            try BSONDecoder().decode(Box<UUID>.self, from: ["v": .binary(BSONBinary([1], subtype: .uuid))])
        }
    }

    @Test func decimals() throws {
        let decimal = try #require(Decimal(string: "-12345.678"))
        try check(decimal, stored: .decimal128(try #require(Decimal128("-12345.678"))))
        var encoder = BSONEncoder()
        encoder.decimalStrategy = .string
        var decoder = BSONDecoder()
        decoder.decimalStrategy = .string
        try check(decimal, stored: "-12345.678", encoder: encoder, decoder: decoder)
        #expect(throws: DecodingError.self) { try decoder.decode(Box<Decimal>.self, from: ["v": "12x"]) }
    }

    @Test(arguments: ["12x", "", "1e", "--1", "1234567890123456789012345678901234567890x", "0x10", "1 "])
    func textThatIsNotANumberIsNotADecimal(_ text: String) {
        var decoder = BSONDecoder()
        decoder.decimalStrategy = .string
        #expect(throws: DecodingError.self) { try decoder.decode(Box<Decimal>.self, from: ["v": .string(text)]) }
    }

    @Test func decimalsOf38DigitsAreKeptAsText() throws {
        let decimal = try #require(Decimal(string: "-12345678901234567890123456789012345678"))
        #expect(throws: EncodingError.self) { try BSONEncoder().encode(Box(v: decimal)) }
        var encoder = BSONEncoder()
        encoder.decimalStrategy = .string
        var decoder = BSONDecoder()
        decoder.decimalStrategy = .string
        try check(decimal, stored: .string(decimal.description), encoder: encoder, decoder: decoder)
    }

    @Test func oldBinaryIsDataWithoutItsInnerLength() throws {
        let old = BSONBinary([7, 8, 9], subtype: .oldBinary)
        #expect(try BSONDecoder().decode(Box<Data>.self, from: ["v": .binary(old)]).v == Data([7, 8, 9]))
    }

    @Test func urls() throws {
        try check(try #require(URL(string: "https://example.com/a?b=c")), stored: "https://example.com/a?b=c")
        #expect(throws: DecodingError.self) { try BSONDecoder().decode(Box<URL>.self, from: ["v": ""]) }
        var encoder = BSONEncoder()
        encoder.urlStrategy = .deferredToURL
        var decoder = BSONDecoder()
        decoder.urlStrategy = .deferredToURL
        let relative = try #require(URL(string: "a/b", relativeTo: URL(string: "https://example.com/x/")))
        let document = try encoder.encode(Box(v: relative))
        #expect(document[path: "v.relative"] == "a/b")
        #expect(try decoder.decode(Box<URL>.self, from: document).v.baseURL == relative.baseURL)
    }
}
