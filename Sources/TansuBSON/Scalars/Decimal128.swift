import Foundation

/// A decimal floating-point number of 34 digits (IEEE 754-2008 decimal128, binary integer encoding).
///
/// Two values are equal when their 16 bytes are equal, so `1.0` and `1.00` are different values of this type. A
/// database compares them by number.
public struct Decimal128: Sendable, Hashable {
    /// The upper 64 bits: sign, exponent and the upper part of the coefficient.
    public let high: UInt64
    /// The lower 64 bits of the coefficient.
    public let low: UInt64

    /// Creates a number from its bits.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Positive infinity.
    public static let infinity = Decimal128(high: 0x7800_0000_0000_0000, low: 0)
    /// Not a number.
    public static let nan = Decimal128(high: 0x7C00_0000_0000_0000, low: 0)

    static let maximumExponent = 6111
    static let minimumExponent = -6176
    static let digitLimit = 34

    /// Whether the sign bit is set.
    public var isNegative: Bool { high >> 63 != 0 }
    /// Whether the value is not a number.
    public var isNaN: Bool { high >> 58 & 0x1F == 0x1F }
    /// Whether the value is positive or negative infinity.
    public var isInfinite: Bool { high >> 58 & 0x1F == 0x1E }
    /// Whether the value is a number and not infinite.
    public var isFinite: Bool { high >> 59 & 0xF != 0xF }

    /// The parts of a finite number: `coefficient * 10^exponent` with the sign.
    struct Parts {
        var isNegative: Bool
        var exponent: Int
        /// Upper and lower half of the 113-bit coefficient.
        var high: UInt64
        var low: UInt64
        var isZero: Bool { high == 0 && low == 0 }
    }

    var parts: Parts {
        if high >> 61 & 3 == 3 {
            // A coefficient that begins with binary 100 is always over 34 digits, which the standard reads as zero.
            return Parts(isNegative: isNegative, exponent: Int(high >> 47 & 0x3FFF) - 6176, high: 0, low: 0)
        }
        var parts = Parts(
            isNegative: isNegative, exponent: Int(high >> 49 & 0x3FFF) - 6176, high: high & 0x1_FFFF_FFFF_FFFF,
            low: low)
        // 10^34 - 1 is the largest coefficient that is a number; above it the value is zero.
        let largest = (high: 0x0001_ED09_BEAD_87C0 as UInt64, low: 0x378D_8E63_FFFF_FFFF as UInt64)
        if parts.high > largest.high || (parts.high == largest.high && parts.low > largest.low) {
            parts.high = 0
            parts.low = 0
        }
        return parts
    }

    /// Creates a number from at most 34 decimal digits and an exponent.
    init(isNegative: Bool, digits: some Sequence<UInt8>, exponent: Int) {
        var high: UInt64 = 0
        var low: UInt64 = 0
        for digit in digits {
            let (carry, product) = low.multipliedFullWidth(by: 10)
            let (sum, overflow) = product.addingReportingOverflow(UInt64(digit))
            high = high &* 10 &+ carry &+ (overflow ? 1 : 0)
            low = sum
        }
        let sign: UInt64 = isNegative ? 1 << 63 : 0
        self.init(high: sign | UInt64(exponent - Self.minimumExponent) << 49 | high, low: low)
    }

    /// Creates the number that equals an integer; of more than 34 digits, the nearest number.
    public init(_ value: some BinaryInteger) {
        let list = value.magnitude.description.utf8.map { $0 - 0x30 }
        self =
            Decimal128(String(value))
            ?? Decimal128(rounding: DecimalDigits(isNegative: value < 0, list: list, exponent: 0), .toNearestOrEven)
    }
}

extension Decimal128 {
    /// The decimal digits of a coefficient, without leading zeros; `[0]` for zero.
    static func digits(high: UInt64, low: UInt64) -> [UInt8] {
        var high = high
        var low = low
        var reversed: [UInt8] = []
        repeat {
            let (quotient, remainder) = (high / 10, high % 10)
            let (lowQuotient, digit) = UInt64(10).dividingFullWidth((remainder, low))
            high = quotient
            low = lowQuotient
            reversed.append(UInt8(digit))
        } while high != 0 || low != 0
        return reversed.reversed()
    }
}

// MARK: - Numbers

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

// MARK: - Text

extension Decimal128: LosslessStringConvertible {
    /// Creates a number from text, or nil when the text is not a number that this type represents exactly.
    ///
    /// The text may have a sign, a decimal point and an exponent. `Infinity`, `Inf` and `NaN` are accepted in any
    /// case. Trailing zeros are dropped when a number needs more than 34 digits or an exponent out of range; other
    /// digits are never dropped.
    public init?(_ text: String) {
        var parser = DecimalParser(Array(text.utf8))
        guard let value = parser.parse() else { return nil }
        self = value
    }

    /// The number as text in the form of the BSON specification: `1.50`, `1E+3`, `NaN`, `-Infinity`.
    public var description: String {
        if isNaN { return "NaN" }
        if isInfinite { return isNegative ? "-Infinity" : "Infinity" }
        let parts = parts
        let digits = Self.digits(high: parts.high, low: parts.low).map { $0 + 0x30 }
        var text: [UInt8] = parts.isNegative ? [0x2D] : []
        let scientific = parts.exponent + digits.count - 1
        if parts.exponent > 0 || scientific < -6 {
            text.append(digits[0])
            if digits.count > 1 {
                text.append(0x2E)
                text += digits[1...]
            }
            text += "E\(scientific < 0 ? "-" : "+")\(scientific.magnitude)".utf8
        } else if parts.exponent == 0 {
            text += digits
        } else {
            let point = digits.count + parts.exponent
            if point > 0 {
                text += digits[..<point]
                text.append(0x2E)
                text += digits[point...]
            } else {
                text += "0.".utf8
                text += repeatElement(0x30, count: -point)
                text += digits
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

extension Decimal128: Codable {
    /// Decodes a number: natively with ``BSONDecoder``, as text with any other decoder.
    ///
    /// - Throws: `DecodingError` when the text is not a number that this type represents exactly.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let value = Decimal128(text) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "\"\(text)\" is not a number that decimal128 represents exactly")
        }
        self = value
    }

    /// Encodes the number: natively with ``BSONEncoder``, as text with any other encoder.
    ///
    /// - Throws: What the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// A parser of decimal numbers.
private struct DecimalParser {
    private let text: [UInt8]
    private var position = 0
    private var digits: [UInt8] = []
    private var exponent = 0

    init(_ text: [UInt8]) { self.text = text }

    private var next: UInt8? { position < text.count ? text[position] : nil }

    private mutating func skip(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    mutating func parse() -> Decimal128? {
        let isNegative = skip(0x2D)
        if !isNegative { _ = skip(0x2B) }
        switch String(decoding: text[position...], as: UTF8.self).lowercased() {
        case "nan": return .nan
        case "inf", "infinity":
            return isNegative ? Decimal128(high: 0xF800_0000_0000_0000, low: 0) : .infinity
        default: break
        }
        guard parseDigits(), parseExponent(), position == text.count, fit() else { return nil }
        return Decimal128(isNegative: isNegative, digits: digits, exponent: exponent)
    }

    private mutating func parseDigits() -> Bool {
        var hasDigits = false
        var hasPoint = false
        while let byte = next {
            if byte == 0x2E, !hasPoint {
                hasPoint = true
            } else if byte >= 0x30, byte <= 0x39 {
                hasDigits = true
                if !digits.isEmpty || byte != 0x30 { digits.append(byte - 0x30) }
                if hasPoint { exponent -= 1 }
            } else {
                break
            }
            position += 1
        }
        if digits.isEmpty { digits = [0] }
        return hasDigits
    }

    private mutating func parseExponent() -> Bool {
        guard skip(0x65) || skip(0x45) else { return true }
        let isNegative = skip(0x2D)
        if !isNegative { _ = skip(0x2B) }
        var value = 0
        let start = position
        while let byte = next, byte >= 0x30, byte <= 0x39 {
            // Beyond this bound every number except zero is out of range, and the exponent of zero is clamped.
            value = min(value * 10 + Int(byte - 0x30), 1_000_000_000)
            position += 1
        }
        exponent += isNegative ? -value : value
        return position > start
    }

    /// Brings digits and exponent into range without changing the number. Returns false when that is impossible.
    private mutating func fit() -> Bool {
        if digits == [0] {
            exponent = min(max(exponent, Decimal128.minimumExponent), Decimal128.maximumExponent)
            return true
        }
        while digits.count > Decimal128.digitLimit || exponent < Decimal128.minimumExponent {
            guard digits.count > 1, digits.last == 0 else { return false }
            digits.removeLast()
            exponent += 1
        }
        while exponent > Decimal128.maximumExponent {
            guard digits.count < Decimal128.digitLimit else { return false }
            digits.append(0)
            exponent -= 1
        }
        return true
    }
}
