import Foundation
import Testing

@testable import TansuBSON

struct Decimal128Tests {
    @Test(arguments: [
        ("0", "0"), ("-0", "-0"), ("1.50", "1.50"), ("1e3", "1E+3"), ("+12", "12"), ("0.0000001", "1E-7"),
        ("NaN", "NaN"),
        ("-inf", "-Infinity"), ("infinity", "Infinity"),
        ("9999999999999999999999999999999999", "9999999999999999999999999999999999"),
        ("1E6144", "1.000000000000000000000000000000000E+6144"), ("0E99999", "0E+6111"), ("0E-99999", "0E-6176"),
    ])
    func textIsReadAndWritten(_ text: String, _ expected: String) {
        #expect(Decimal128(text)?.description == expected)
    }

    @Test(arguments: ["1E6145", "1E-6177", "99999999999999999999999999999999991", "", "1.2.3", " 1", "1 ", "e5", "٣"])
    func whatItCannotHoldIsRefused(_ text: String) { #expect(Decimal128(text) == nil) }

    @Test func hugeExponentsDoNotOverflow() {
        #expect(Decimal128("1E" + String(repeating: "9", count: 1000)) == nil)
        #expect(Decimal128("0E-" + String(repeating: "9", count: 1000))?.description == "0E-6176")
    }

    @Test func integersConvertExactlyOrNotAtAll() throws {
        #expect(Decimal128(Int64.min).description == "-9223372036854775808")
        #expect(Int64(exactly: Decimal128(Int64.min)) == .min)
        #expect(Int64(exactly: try #require(Decimal128("12.00"))) == 12)
        #expect(Int64(exactly: try #require(Decimal128("12E2"))) == 1200)
        #expect(Int64(exactly: try #require(Decimal128("12.5"))) == nil)
        #expect(Int64(exactly: try #require(Decimal128("9223372036854775808"))) == nil)
        #expect(Int64(exactly: try #require(Decimal128("1E300"))) == nil)
        #expect(Int64(exactly: Decimal128.nan) == nil)
    }

    @Test(arguments: ["0", "1.5", "-123456789.000001", "0.1", "1e30", "-5e-30"])
    func foundationsDecimalsConvert(_ text: String) throws {
        let decimal = try #require(Decimal(string: text))
        let number = try #require(Decimal128(exactly: decimal))
        #expect(Decimal(exactly: number) == decimal)
    }

    @Test func foundationsDecimalsConvertExactlyOrNotAtAll() throws {
        let digits38 = try #require(Decimal(string: "12345678901234567890123456789012345678"))
        #expect(Decimal128(exactly: digits38) == nil)
        #expect(Decimal(exactly: try #require(Decimal128("1E1000"))) == nil)
        #expect(Decimal(exactly: .infinity) == nil)
        #expect(Decimal(exactly: .nan)?.isNaN == true)
    }

    @Test func equalityIsOfBits() {
        #expect(Decimal128("1.0") != Decimal128("1.00"))
        #expect(Decimal128.nan == Decimal128.nan)
    }
}
