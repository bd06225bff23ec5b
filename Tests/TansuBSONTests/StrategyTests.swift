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

    @Test(arguments: [BSONDateStrategy.bsonDate, .iso8601, .secondsSince1970, .millisecondsSince1970, .deferredToDate])
    func dates(_ strategy: BSONDateStrategy) throws {
        var encoder = BSONEncoder()
        encoder.dateStrategy = strategy
        var decoder = BSONDecoder()
        decoder.dateStrategy = strategy
        let date = Date(timeIntervalSince1970: 1_700_000_000.25)
        let stored: BSONValue =
            switch strategy {
            case .bsonDate: .date(1_700_000_000_250)
            case .iso8601: "2023-11-14T22:13:20.250Z"
            case .secondsSince1970: 1_700_000_000.25
            case .millisecondsSince1970: .int64(1_700_000_000_250)
            case .deferredToDate: .double(date.timeIntervalSinceReferenceDate)
            }
        try check(date, stored: stored, encoder: encoder, decoder: decoder)
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

    @Test func urls() throws {
        try check(try #require(URL(string: "https://example.com/a?b=c")), stored: "https://example.com/a?b=c")
    }
}
