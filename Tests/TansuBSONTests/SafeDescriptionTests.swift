import Foundation
import Testing

@testable import TansuBSON

@Suite("Errors that anyone can print")
struct SafeDescriptionTests {
    struct Event: Codable { var at: Date }
    struct Refused: Error { var date: Date }
    final class Ring { var next: Ring? }

    private let noDate = Date(timeIntervalSince1970: .nan)

    @Test(
        "An error about a date holds its seconds",
        arguments: [BSONDateStrategy.bsonDate, .iso8601, .millisecondsSince1970])
    func dates(strategy: BSONDateStrategy) throws {
        var encoder = BSONEncoder()
        encoder.dateStrategy = strategy
        for seconds in [Double.nan, .infinity, 1e300] {
            let event = Event(at: Date(timeIntervalSince1970: seconds))
            let error = try #require(#expect(throws: EncodingError.self) { try encoder.encode(event) })
            guard case .invalidValue(let value, _) = error else { continue }
            #expect(value is Double)
            #expect("\(error)".contains(seconds.isNaN ? "NaN" : "range"))
        }
    }

    @Test("What the closure of a strategy throws about a date can be printed")
    func closures() throws {
        var encoder = BSONEncoder()
        encoder.dateStrategy = .custom(encode: { throw Refused(date: $0) }, decode: { $0.dateValue ?? Date() })
        let error = #expect(throws: EncodingError.self) { try encoder.encode(Event(at: noDate)) }
        guard case .invalidValue(_, let context) = error else { return }
        #expect(context.debugDescription.contains("Refused") && context.underlyingError == nil)
        #expect(try !"\(#require(error))".isEmpty)
        let ordinary = #expect(throws: EncodingError.self) { try encoder.encode(Event(at: Date())) }
        guard case .invalidValue(_, let context) = ordinary else { return }
        #expect(context.underlyingError is Refused)
        encoder.dateStrategy = .custom(
            encode: { throw EncodingError.invalidValue($0, .init(codingPath: [], debugDescription: "never")) },
            decode: { $0.dateValue ?? Date() })
        let own = #expect(throws: EncodingError.self) { try encoder.encode(Event(at: noDate)) }
        #expect(try "\(#require(own))".contains("never"))
    }

    @Test("A value that is no document, or is nested too deep, can be printed in its error")
    func values() throws {
        struct Nested: Codable {
            var at: Date
            var inner: [Nested] = []
        }
        var encoder = BSONEncoder()
        encoder.dateStrategy = .secondsSince1970
        var nested = Nested(at: noDate)
        for _ in 0..<150 { nested = Nested(at: noDate, inner: [nested]) }
        for error in [
            #expect(throws: EncodingError.self) { try encoder.encode(nested) },
            #expect(throws: EncodingError.self) { try encoder.encode([noDate]) },
            #expect(throws: EncodingError.self) { try encoder.encode(noDate) },
        ] {
            #expect(try !"\(#require(error))".isEmpty)
        }
    }

    @Test("Ordinary values keep their description, the others have the name of their type")
    func descriptions() {
        #expect(safeDescription(of: 7) == "7" && safeDescription(of: "seven") == "seven")
        #expect(safeDescription(of: ["a": 1]) == "[\"a\": 1]")
        #expect(safeDescription(of: noDate) == "nan" && safeDescription(of: Date(timeIntervalSince1970: 5)) == "5.0")
        #expect(safeDescription(of: [noDate]) == "Array<Date>")
        #expect(safeDescription(of: Refused(date: noDate)) == "Refused")
        #expect(safeDescription(of: Optional(noDate) as Any) == "nan")
        let ring = Ring()
        ring.next = ring
        #expect(safeDescription(of: ring) == "Ring")
        ring.next = nil
    }

    @Test("A value of a date that is NaN is the least date, and one out of range is clamped")
    func clamping() {
        #expect(BSONValue(noDate) == .date(Int64.min))
        #expect(BSONValue.date(Date(timeIntervalSince1970: .infinity)) == .date(Int64.max))
        #expect(BSONValue(Date(timeIntervalSince1970: -1e300)) == .date(Int64.min))
    }
}
