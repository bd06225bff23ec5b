import Foundation
import Tansu
import Testing

/// Every Codable type of Swift and Foundation, with extreme values, through save and load.
@Suite("Standard types through save and load")
struct StandardTypeTests {
    struct Box<Value: Codable & Equatable>: Codable, @unchecked Sendable, Equatable, Identifiable {
        var id: Int
        var value: Value
        var optional: Value?
        var list: [Value]
        var keyed: [String: Value]
    }

    private let db: Database

    init() throws {
        db = try Database(.memory)
    }

    private func check<Value: Codable & Equatable>(
        _ values: [Value], sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let boxes = try db.collection("boxes", of: Box<Value>.self)
        for (number, value) in values.enumerated() {
            let box = Box(id: number, value: value, optional: value, list: [value, value], keyed: ["a": value])
            do {
                try boxes.save(box)
                #expect(try boxes.get(number) == box, sourceLocation: sourceLocation)
                let before = try db.collection("boxes").get(number)
                let read = try #require(try boxes.get(number))
                try boxes.save(read)
                #expect(try db.collection("boxes").get(number) == before, sourceLocation: sourceLocation)
            } catch {
                Issue.record("\(value): \(error)", sourceLocation: sourceLocation)
            }
        }
        try db.dropCollection("boxes")
    }

    private func checkNumbers<Value: FixedWidthInteger & Codable>(
        _ type: Value.Type, _ others: [Value] = [], sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let (least, most, half) = (Value.min, Value.max, Value.max / 2)
        let near: [Value] = [least, least + 1, 0, 1, most - 1, most, half, half + 1]
        try check(near + others, sourceLocation: sourceLocation)
        // Numbers compare as such, whatever they are stored as.
        let boxes = try db.collection("numbers", of: Box<Value>.self)
        let all = Set(near).shuffled()
        for (number, value) in all.enumerated() {
            try boxes.save(Box(id: number, value: value, optional: nil, list: [], keyed: [:]))
        }
        #expect(try boxes.find().sorted(by: "value").all().map(\.value) == all.sorted(), sourceLocation: sourceLocation)
        try db.dropCollection("numbers")
    }

    @Test func integers() throws {
        try checkNumbers(Int.self)
        try checkNumbers(Int8.self)
        try checkNumbers(Int16.self)
        try checkNumbers(Int32.self)
        try checkNumbers(Int64.self)
        try checkNumbers(UInt.self)
        try checkNumbers(UInt8.self)
        try checkNumbers(UInt16.self)
        try checkNumbers(UInt32.self)
        try checkNumbers(UInt64.self, [10_000_000_000_000_000_000, 1 << 63, (1 << 53) + 1])
    }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    @Test func wideIntegers() throws {
        let limit = (0..<34).reduce(Int128(1)) { power, _ in power * 10 } - 1
        try check([Int128(Int64.min) - 1, Int128(Int64.max) + 1, limit, -limit, 0, Int128(UInt64.max)])
        try check([UInt128(UInt64.max) + 1, UInt128(limit), 0])
        let boxes = try db.collection("boxes", of: Box<Int128>.self)
        let error = #expect(throws: EncodingError.self) {
            try boxes.save(Box(id: 1, value: .max, optional: nil, list: [], keyed: [:]))
        }
        #expect("\(try #require(error))".contains("34 digits"))
    }

    @Test func floatingPoint() throws {
        let doubles = [
            0, -0.0, .infinity, -.infinity, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .leastNonzeroMagnitude,
            .leastNormalMagnitude, .pi, .ulpOfOne, 0.1, 1e22,
        ]
        try check(doubles)
        try check(doubles.map { CGFloat($0) })
        try check(
            [
                0, .infinity, -.infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude, .leastNormalMagnitude, .pi,
            ] as [Float])
        #if !(os(macOS) && arch(x86_64))
        try check([0, .infinity, -.infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude, .pi] as [Float16])
        #endif
        let boxes = try db.collection("boxes", of: Box<Double>.self)
        try boxes.save(Box(id: 1, value: .nan, optional: .nan, list: [.nan], keyed: [:]))
        #expect(try boxes.get(1)?.value.isNaN == true)
    }

    @Test func decimals() throws {
        try check(
            [
                0, 1, -1, Decimal(string: "9999999999999999999999999999999999"),
                Decimal(string: "-0.00000000000000000000001"),
                Decimal(sign: .plus, exponent: 127, significand: 1),
                Decimal(sign: .minus, exponent: -128, significand: 1),
                Decimal(string: "1.50"), Decimal(UInt64.max), Decimal(Int64.min), Decimal.pi.rounded(30),
            ].compactMap { $0 })
        let boxes = try db.collection("boxes", of: Box<Decimal>.self)
        for (number, decimal) in [Decimal.greatestFiniteMagnitude, .leastFiniteMagnitude].enumerated() {
            // More digits than decimal128 has, before the point.
            #expect(throws: EncodingError.self) {
                try boxes.save(Box(id: number, value: decimal, optional: nil, list: [], keyed: [:]))
            }
        }
        let texts = boxes.coding(BSONCodingStrategies(decimal: .string))
        for decimal in [Decimal.greatestFiniteMagnitude, .leastFiniteMagnitude, .leastNonzeroMagnitude, .nan] {
            let box = Box(id: 1, value: decimal, optional: decimal, list: [], keyed: [:])
            try texts.save(box)
            let read = try texts.get(1)?.value
            #expect(read == decimal || (decimal.isNaN && read?.isNaN == true))
        }
    }

    @Test func dates() throws {
        try check([
            .distantPast, .distantFuture, Date(timeIntervalSince1970: 0), Date(timeIntervalSince1970: -0.001),
            Date(timeIntervalSince1970: 253_402_300_800), Date(timeIntervalSince1970: -62_167_219_201),
            Date(timeIntervalSince1970: 9e12), Date(timeIntervalSince1970: -9e12),
        ])
        try check([
            DateInterval(start: .distantPast, end: .distantFuture), DateInterval(start: .distantPast, duration: 0),
        ])
        try check([
            DateComponents(), DateComponents(year: -5, month: 13, day: 400, nanosecond: .max),
            DateComponents(calendar: Calendar(identifier: .hebrew), timeZone: .gmt, era: 1),
        ])
        let zones = ["GMT", "Europe/Berlin", "Pacific/Apia"].compactMap(TimeZone.init(identifier:))
        try check(zones + [TimeZone(secondsFromGMT: 20_700), TimeZone(secondsFromGMT: -64_800)].compactMap { $0 })
        try check(
            [
                Calendar.Identifier.gregorian, .buddhist, .chinese, .coptic, .hebrew, .islamicUmmAlQura, .iso8601,
            ].map { Calendar(identifier: $0) })
        try check(["", "de_DE", "en-US-u-ca-buddhist"].map { Locale(identifier: $0) })
    }

    @Test func durations() throws {
        try check([1, 9, 10, 20, 30, 60, 90, 600].map { Duration.seconds($0) })
        try check([
            .zero, .nanoseconds(1), .nanoseconds(-1), .seconds(-1), .seconds(Int64.max), .seconds(Int64.min),
            Duration(secondsComponent: .max, attosecondsComponent: 999_999_999_999_999_999),
            Duration(secondsComponent: 0, attosecondsComponent: -1), .seconds(9.223372036854775807),
            .seconds(9.2233720368547759),
        ])
        var random = SystemRandomNumberGenerator()
        try check(
            (0..<200).map { _ in
                Duration(
                    secondsComponent: .random(in: -9_000_000_000...9_000_000_000, using: &random),
                    attosecondsComponent: .random(in: 0..<1_000_000_000_000_000_000, using: &random))
            })
    }

    @Test func textAndBytes() throws {
        try check(["", "\u{0}", "a\u{0}b", "é", "e\u{301}", "\u{10FFFF}", "👨‍👩‍👧", String(repeating: "x", count: 70_000)])
        try check([Data(), Data([0]), Data(0...255), Data(repeating: 7, count: 70_000), Data([1, 2, 3])[1...]])
        try check([UUID(), UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))])
        try check([true, false])
        let urls = ["https://example.com/a%20b?q=ü#f", "file:///tmp/x", "mailto:a@b.c", "a/b", "data:,x", "//h/p"]
        try check(urls.compactMap(URL.init(string:)))
        try check(urls.compactMap(URLComponents.init(string:)))
        var components = URLComponents()
        // Foundation encodes the parts without percents, and so loses those that it would not add again, as in b%26c.
        components.percentEncodedQuery = "a=b%20c"
        try check([URLComponents(), components])
        try check([PersonNameComponents(), Self.name])
    }

    private static var name: PersonNameComponents {
        var name = PersonNameComponents()
        (name.givenName, name.familyName, name.nickname) = ("Ursula", "Le Guin", "")
        return name
    }

    @Test func sets() throws {
        try check([IndexSet(), IndexSet([1, 5, 6, 7, 1 << 40]), IndexSet(integersIn: 0..<Int(Int32.max))])
        try check([IndexPath(), [1, 2, 3], [.max - 1, 0]])
        try check([CharacterSet(), .alphanumerics, CharacterSet(charactersIn: "a😀"), CharacterSet().inverted])
        try check([Set<Int>(), [1, .max, .min], Set(0..<300)])
    }

    @Test func measures() throws {
        try check([
            Measurement(value: 1.5, unit: UnitLength.parsecs), Measurement(value: -.infinity, unit: UnitLength.meters),
        ])
        try check([
            CGRect(x: 1, y: -2, width: 1e300, height: 0), CGRect.null, .infinite, .zero,
        ])
        try check([CGPoint(x: 0.1, y: -1e300)])
        try check([CGSize(width: 3, height: 4)])
        try check([AffineTransform.identity, AffineTransform(rotationByDegrees: 30)])
    }

    @Test func ranges() throws {
        try check([0..<1, Int.min..<Int.max, 5..<5])
        try check([0...1, Int.min...Int.max])
        try check([Date.distantPast...Date.distantFuture])
        try check([Equating(value: 1...), Equating(value: Int.min...)])
        try check(["a"..<"b"])
        try check([[1, 2, 3].difference(from: [3, 4]), [Int]().difference(from: [])])
        try check([ContiguousArray([1, 2, 3]), []])
    }

    struct Equating: Codable, Sendable, Equatable {
        var value: PartialRangeFrom<Int>
        static func == (a: Self, b: Self) -> Bool { a.value.lowerBound == b.value.lowerBound }
    }

    enum Outcome: Codable, Sendable, Equatable {
        case success(Int)
        case failure(code: Int, reason: String?)
        indirect case wrapped(Outcome)
        case nothing
    }

    enum Level: Int, Codable, Sendable, Hashable { case low = -1, high = 9_000_000_000 }

    @Test func enumsOptionalsAndKeys() throws {
        try check([
            Outcome.success(.max), .failure(code: .min, reason: nil), .failure(code: 0, reason: ""), .nothing,
            .wrapped(.wrapped(.nothing)),
        ])
        try check([Level.low, .high])
        try check([Int??.some(.some(1))])
        try check([[1, nil, 3], [nil]])
        try check([[Level.low: 1, .high: 2], [:]])
        try check([[UUID(): 1, UUID(): 2]])
        try check([[ObjectID(): "a", ObjectID(): "b"]])
        try check([[Int.min: "a", .max: "b", 0: "c"]])
        try check([[Date.distantPast: 1, .distantFuture: 2]])
        try check([["": 1, "a.b": 2, "c$": 3, "é": 4, "$c": 5]])
        try check([[UInt64.max: UInt64.max]])
        try check([[Outcome.nothing, .success(1)]])
        try check([ObjectID()])
        try check([[[[1]], []], []])
    }

    @Test func unicodeScalars() throws {
        struct Letter: Codable, Sendable, Equatable, RawRepresentable { var rawValue: UInt32 }
        try check([Letter(rawValue: 0x10FFFF), Letter(rawValue: 0)])
    }
}

extension Decimal {
    fileprivate func rounded(_ digits: Int) -> Decimal {
        var (result, value) = (Decimal(), self)
        NSDecimalRound(&result, &value, digits, .plain)
        return result
    }
}
