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
