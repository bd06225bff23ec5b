import Foundation

extension Int64 {
    /// Creates the integer that equals a decimal number, or nil when there is none.
    public init?(exactly value: Decimal128) {
        guard value.isFinite else { return nil }
        let parts = value.parts
        var digits = Decimal128.digits(high: parts.high, low: parts.low)
        var exponent = parts.exponent
        while exponent < 0, digits.count > 1, digits.last == 0 {
            digits.removeLast()
            exponent += 1
        }
        if parts.isZero {
            self = 0
            return
        }
        // Nineteen digits are the most that an Int64 has.
        guard exponent >= 0, digits.count + exponent <= 19 else { return nil }
        digits += repeatElement(0, count: exponent)
        let text = (parts.isNegative ? "-" : "") + String(decoding: digits.map { $0 + 0x30 }, as: UTF8.self)
        guard let integer = Int64(text) else { return nil }
        self = integer
    }
}

extension Decimal128 {
    /// Creates the number that equals a `Decimal`, or nil when that has more than 34 digits.
    public init?(exactly value: Decimal) {
        self.init(value.description)
    }
}

extension Decimal {
    /// Creates the `Decimal` that equals a decimal128 number, or nil when its digits or exponent are out of range.
    public init?(exactly value: Decimal128) {
        guard !value.isInfinite else { return nil }
        if value.isNaN {
            self = .nan
            return
        }
        let parts = value.parts
        var exponent = parts.exponent
        var digits = Decimal128.digits(high: parts.high, low: parts.low)
        while digits.count > 1, digits.last == 0 {
            digits.removeLast()
            exponent += 1
        }
        if parts.isZero { exponent = 0 }
        // Decimal's exponent is a signed byte.
        guard (-128...127).contains(exponent) else { return nil }
        let text = (parts.isNegative ? "-" : "") + String(decoding: digits.map { $0 + 0x30 }, as: UTF8.self)
        guard let coefficient = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")) else { return nil }
        self = coefficient
        if exponent != 0 {
            self = Decimal(sign: .plus, exponent: exponent, significand: coefficient)
        }
    }
}
