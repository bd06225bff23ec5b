import Foundation

extension FixedWidthInteger {
    /// Creates the integer that equals a decimal number, or nil when there is none.
    public init?(exactly value: Decimal128) {
        guard value.isFinite else { return nil }
        var digits = DecimalDigits(value)
        // A digit has more than three bits.
        guard digits.exponent >= 0, digits.wholeCount <= Self.bitWidth / 3 + 1 else { return nil }
        digits.expand()
        guard let integer = Self(digits.text) else { return nil }
        self = integer
    }
}

extension Decimal128 {
    /// Creates the number that equals a `Decimal`, or nil when that has more than 34 digits.
    public init?(exactly value: Decimal) {
        self.init(value.description)
    }

    /// Creates the number of 34 digits that is nearest to a `Decimal`.
    ///
    /// - Parameters:
    ///   - value: The number, which has up to 38 digits.
    ///   - rule: How a number of more than 34 digits is rounded.
    public init(_ value: Decimal, rounding rule: BSONRoundingRule = .toNearestOrEven) {
        self = Decimal128(exactly: value) ?? Decimal128(rounding: value.digits, rule)
    }

    /// Creates a number with digits that are rounded to 34. The exponent must be in range.
    init(rounding digits: DecimalDigits, _ rule: BSONRoundingRule) {
        let rounded = digits.rounded(to: Self.digitLimit, rule)
        self.init(isNegative: rounded.isNegative, digits: rounded.list, exponent: rounded.exponent)
    }

    /// Creates the number of a double: a whole number exactly, any other one by the shortest text that is read as the
    /// double again, so that 7.1 is 7.1.
    init(shortest value: Double) {
        if let whole = Int64(exactly: value) {
            self.init(whole)
        } else {
            self = Decimal128(value.description) ?? .nan
        }
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
        let digits = DecimalDigits(value)
        // Decimal's exponent is a signed byte.
        guard (-128...127).contains(digits.exponent),
            let coefficient = Decimal(string: digits.text, locale: Locale(identifier: "en_US_POSIX"))
        else { return nil }
        self = coefficient
        if digits.exponent != 0 {
            self = Decimal(sign: .plus, exponent: digits.exponent, significand: coefficient)
        }
    }

    /// The digits of a number that is not NaN.
    var digits: DecimalDigits {
        // The description has no exponent.
        let parts = description.split(separator: ".")
        let list = parts.joined().utf8.filter { (0x30...0x39).contains($0) }.map { $0 - 0x30 }
        let point = parts.count == 2 ? parts[1].utf8.count : 0
        return DecimalDigits(isNegative: isSignMinus, list: list, exponent: -point)
    }
}

extension Double {
    /// Creates the double that is nearest to a decimal128 number: an infinity when that is out of range.
    public init(_ value: Decimal128) {
        self = Double(value.description) ?? .nan
    }

    /// Creates the double that equals a decimal128 number, or nil when there is none.
    public init?(exactly value: Decimal128) {
        if value.isFinite {
            let nearest = Double(value)
            guard DecimalDigits(value).isDyadic, nearest.isFinite, nearest != 0 || value.parts.isZero else {
                return nil
            }
            self = nearest
        } else {
            self.init(value)
        }
    }

    /// Creates the double that equals a decimal128 number, or whose shortest text is that number: 7.1 for 7.1. Nil when
    /// there is none.
    init?(lossless value: Decimal128) {
        if let exact = Double(exactly: value) {
            self = exact
            return
        }
        let nearest = Double(value)
        guard nearest.isFinite, DecimalDigits(Decimal128(shortest: nearest)) == DecimalDigits(value) else { return nil }
        self = nearest
    }
}
