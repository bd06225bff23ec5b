import Foundation
import Testing

@testable import TansuBSON

/// Numbers are converted between decimals, doubles and integers exactly, or rounded as documented, or refused.
struct DecimalConversionTests {
    struct Box<T: Codable>: Codable { var v: T }

    func decode<T: Codable>(_ type: T.Type, _ value: BSONValue, _ decoder: BSONDecoder = BSONDecoder()) throws -> T {
        try decoder.decode(Box<T>.self, from: ["v": value]).v
    }

    func encode<T: Codable>(_ value: T, _ strategy: BSONDecimalStrategy = .decimal128) throws -> BSONValue? {
        var encoder = BSONEncoder()
        encoder.decimalStrategy = strategy
        return try encoder.encode(Box(v: value))["v"]
    }

    func decimal(_ text: String) throws -> Decimal {
        try #require(Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")))
    }

    func stored(_ text: String) throws -> BSONValue { .decimal128(try #require(Decimal128(text))) }

    // MARK: Doubles as decimals

    @Test(arguments: [
        (7.25, "7.25"), (7.1, "7.1"), (-0.1, "-0.1"), (19.95, "19.95"), (0, "0"), (-0.0, "0"), (1e22, "1e22"),
        (1e-100, "1e-100"), (3, "3"), (0.30000000000000004, "0.30000000000000004"),
        (0x1p53, "9007199254740992"), (0x1p62, "4611686018427387904"),
    ])
    func aStoredDoubleIsReadAsTheDecimalOfItsShortestText(_ number: Double, _ text: String) throws {
        #expect(try decode(Decimal.self, .double(number)) == decimal(text))
        #expect(try decode([Decimal?].self, [.double(number)]) == [decimal(text)])
        #expect(BSONValue.double(number).decimalValue == (try decimal(text)))
    }

    @Test func everyDoubleThatADecimalHoldsComesBack() throws {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            let number = Double(bitPattern: generator.next())
            guard number.isFinite, number == 0 || (1e-90...1e90).contains(abs(number)) else { continue }
            let decimal = try decode(Decimal.self, .double(number))
            #expect(try decode(Double.self, #require(try encode(decimal))) == number, "\(number)")
            #expect(try encode(decimal, .double) == .double(number), "\(number)")
        }
    }

    @Test(arguments: [1e300, -1e300, 1e150, 1e-300, .infinity, -.infinity])
    func aDoubleThatADecimalCannotHoldIsRefused(_ number: Double) {
        #expect(throws: DecodingError.self) { try decode(Decimal.self, .double(number)) }
        #expect(BSONValue.double(number).decimalValue == nil)
    }

    @Test func aDoubleThatIsNotANumberIsADecimalThatIsNone() throws {
        #expect(try decode(Decimal.self, .double(.nan)).isNaN)
    }

    // MARK: Decimals as doubles

    @Test(arguments: [
        ("7.25", 7.25), ("7.1", 7.1), ("-19.95", -19.95), ("1E+22", 1e22), ("2.50", 2.5), ("0", 0), ("1E+300", 1e300),
        ("9.31322574615478515625E-10", 0x1p-30), ("1180591620717411303424", 0x1p70), ("Infinity", .infinity),
        ("-Infinity", -.infinity), ("2251799813685248.5", 0x1p51 + 0.5),
    ])
    func aStoredDecimalIsReadAsTheDoubleThatEqualsItOrHasItsText(_ text: String, _ number: Double) throws {
        #expect(try decode(Double.self, stored(text)) == number)
        #expect(try stored(text).doubleValue == number)
        #expect(try decode(Double?.self, stored(text)) == number)
    }

    @Test(arguments: [
        "0.1000000000000000000000000000000001", "0.3333333333333333333333333333333333", "9007199254740993", "1E+400",
        "1E-400", "0.10000000000000000555111512312578270",
    ])
    func aDecimalThatNoDoubleEqualsIsRefusedUnlessRounded(_ text: String) throws {
        #expect(throws: DecodingError.self) { try decode(Double.self, stored(text)) }
        #expect(try stored(text).doubleValue == nil)
        var rounding = BSONDecoder()
        rounding.doubleStrategy = .rounded
        if text == "1E+400" {
            #expect(throws: DecodingError.self) { try decode(Double.self, stored(text), rounding) }
        } else {
            #expect(try decode(Double.self, stored(text), rounding) == Double(text))
        }
    }

    @Test func integersAreRoundedToDoublesOnlyWhenAsked() throws {
        var rounding = BSONDecoder()
        rounding.doubleStrategy = .rounded
        #expect(throws: DecodingError.self) { try decode(Double.self, .int64(.max)) }
        #expect(try decode(Double.self, .int64(.max), rounding) == 0x1p63)
        #expect(try decode(Float.self, stored("0.1"), rounding) == 0.1)
    }

    @Test func theAdviceOfARefusalIsToRound() throws {
        let error = #expect(throws: DecodingError.self) { try decode(Double.self, .int64(.max)) }
        guard case .dataCorrupted(let context)? = error else {
            Issue.record("expected dataCorrupted")
            return
        }
        #expect(context.debugDescription.contains("doubleStrategy"))
    }

    @Test func aDoubleOfADecimalIsTheNearest() throws {
        #expect(Double(try #require(Decimal128("12.475"))) == 12.475)
        #expect(Double(exactly: try #require(Decimal128("12.475"))) == nil)
        #expect(Double(exactly: try #require(Decimal128("12.5"))) == 12.5)
        #expect(Double(exactly: try #require(Decimal128("-0"))) == 0)
        #expect(Double(exactly: Decimal128.nan)?.isNaN == true)
        #expect(Double(exactly: try #require(Decimal128("1E+6000"))) == nil)
        #expect(Double(try #require(Decimal128("1E+6000"))) == .infinity)
        // The odd part of 10^22 has 52 bits, that of 10^23 has 54.
        #expect(Double(exactly: try #require(Decimal128("1E+22"))) == 1e22)
        #expect(Double(exactly: try #require(Decimal128("1E+23"))) == nil)
    }

    // MARK: Decimals of more than 34 digits

    @Test func aQuotientIsRoundedTo34Digits() throws {
        #expect(try encode(Decimal(2) / 3) == stored("0.6666666666666666666666666666666667"))
        #expect(try encode(Decimal(-200) / 3) == stored("-66.66666666666666666666666666666667"))
        #expect(try encode([Decimal(1) / 3]) == [stored("0.3333333333333333333333333333333333")])
    }

    @Test(arguments: [
        ("1.00000000000000000000000000000000050", "1.000000000000000000000000000000000"),
        ("1.00000000000000000000000000000000150", "1.000000000000000000000000000000002"),
        ("1.000000000000000000000000000000000501", "1.000000000000000000000000000000001"),
        ("9.99999999999999999999999999999999951", "1.000000000000000000000000000000000E+1"),
    ])
    func aTieIsRoundedToTheEvenDigit(_ text: String, _ expected: String) throws {
        let value = try #require(try encode(decimal(text))?.decimalValue)
        #expect(value == (try decimal(expected)))
    }

    @Test func digitsBeforeThePointAreNeverRoundedAway() throws {
        for text in ["12345678901234567890123456789012345678", "12345678901234567890123456789012345.5"] {
            let error = #expect(throws: EncodingError.self) { try encode(decimal(text)) }
            #expect(try #require(error).context.debugDescription.contains("34 digits"))
        }
        #expect(
            try encode(decimal("1234567890123456789012345678901234.5")) == stored("1234567890123456789012345678901234"))
        // Zeros are no digits that a rounding could lose.
        #expect(
            try encode(decimal("12345678901234567890123456789012340000"))?.decimalValue
                == decimal("12345678901234567890123456789012340000"))
    }

    @Test func theStrategySaysWhetherAndHowADecimalIsRounded() throws {
        let third = Decimal(2) / 3
        #expect(throws: EncodingError.self) { try encode(third, .exactDecimal128) }
        #expect(try encode(third, .roundedDecimal128(.down)) == stored("0.6666666666666666666666666666666666"))
        #expect(try encode(-third, .roundedDecimal128(.up)) == stored("-0.6666666666666666666666666666666666"))
        #expect(try encode(-third, .roundedDecimal128(.down)) == stored("-0.6666666666666666666666666666666667"))
        #expect(try encode(third, .roundedDecimal128(.towardZero)) == stored("0.6666666666666666666666666666666666"))
        #expect(try encode(third, .roundedDecimal128(.awayFromZero)) == stored("0.6666666666666666666666666666666667"))
        #expect(
            try encode(decimal("12345678901234567890123456789012345678"), .roundedDecimal128(.toNearestOrEven))
                == stored("1.234567890123456789012345678901235E+37"))
        #expect(try encode(Decimal(7.25), .roundedDecimal128(.down)) == stored("7.25"))
    }

    @Test func asDoubleADecimalIsStoredOnlyWhenItComesBack() throws {
        #expect(try encode(decimal("7.1"), .double) == .double(7.1))
        #expect(throws: EncodingError.self) { try encode(Decimal(2) / 3, .double) }
        #expect(throws: EncodingError.self) { try encode(decimal("9007199254740993"), .double) }
        var decoder = BSONDecoder()
        decoder.decimalStrategy = .double
        #expect(try decode(Decimal.self, .double(7.1), decoder) == decimal("7.1"))
    }

    // MARK: Values

    @Test func valuesAreMadeFromDecimals() throws {
        #expect(BSONValue(try decimal("19.95")) == (try stored("19.95")))
        #expect(BSONValue(Decimal(2) / 3) == (try stored("0.6666666666666666666666666666666667")))
        #expect(BSONValue(exactly: Decimal(2) / 3) == nil)
        #expect(BSONValue(exactly: try decimal("0.5")) == (try stored("0.5")))
        #expect(try stored("0.5").decimalValue == decimal("0.5"))
        #expect(BSONValue.int64(.max).decimalValue == Decimal(Int64.max))
        #expect(BSONValue.string("1").decimalValue == nil)
        #expect(BSONValue(Decimal.nan) == .decimal128(.nan))
    }

    @Test func wholeNumbersOfAnySizeAreRoundedAndNotLost() throws {
        guard #available(macOS 15, iOS 18, watchOS 11, tvOS 18, visionOS 2, *) else { return }
        #expect(Decimal128(UInt128.max).description == "3.402823669209384634633746074317682E+38")
        #expect(Decimal128(Int128(Int64.min)).description == "-9223372036854775808")
    }
}
