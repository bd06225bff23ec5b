/// A decimal number of any length: digits times a power of ten. The zeros at the end are part of the exponent.
struct DecimalDigits: Equatable {
    var isNegative: Bool
    /// The digits, the highest first, without zeros at either end; none for zero.
    private(set) var list: [UInt8]
    private(set) var exponent: Int

    init(isNegative: Bool, list: [UInt8], exponent: Int) {
        self.isNegative = isNegative
        self.list = Array(list[(list.firstIndex { $0 != 0 } ?? list.count)...])
        self.exponent = exponent
        while self.list.last == 0 {
            self.list.removeLast()
            self.exponent += 1
        }
        if self.list.isEmpty { self.exponent = 0 }
    }

    /// The parts of a finite decimal128.
    init(_ number: Decimal128) {
        let parts = number.parts
        self.init(
            isNegative: parts.isNegative, list: Decimal128.digits(high: parts.high, low: parts.low),
            exponent: parts.exponent)
    }

    var isZero: Bool { list.isEmpty }

    /// How many digits there are before the decimal point, at least 0.
    var wholeCount: Int { max(list.count + exponent, 0) }

    /// The digits as text, with a sign and without the exponent.
    var text: String {
        let digits = list.isEmpty ? [0x30] : list.map { $0 + 0x30 }
        return (isNegative ? "-" : "") + String(decoding: digits, as: UTF8.self)
    }

    /// Writes a positive exponent as zeros, for the text of a whole number.
    mutating func expand() {
        list += repeatElement(0, count: max(exponent, 0))
        exponent = min(exponent, 0)
    }

    /// The number with at most `limit` digits.
    func rounded(to limit: Int, _ rule: BSONRoundingRule) -> Self {
        guard list.count > limit else { return self }
        let dropped = list[limit...]
        var digits = Array(list[..<limit])
        if isRoundedAway(rule, last: digits.last ?? 0, dropped) {
            var index = limit - 1
            while index >= 0, digits[index] == 9 {
                digits[index] = 0
                index -= 1
            }
            if index >= 0 { digits[index] += 1 } else { digits.insert(1, at: 0) }
        }
        return Self(isNegative: isNegative, list: digits, exponent: exponent + dropped.count)
    }

    /// Whether the magnitude grows when the last digits, of which the lowest is not 0, are dropped.
    private func isRoundedAway(
        _ rule: BSONRoundingRule, last: UInt8, _ dropped: ArraySlice<UInt8>
    ) -> Bool {
        let first = dropped.first ?? 0
        let isTie = first == 5 && dropped.count == 1
        switch rule {
        case .toNearestOrEven: return isTie ? last % 2 == 1 : first >= 5
        case .toNearestOrAwayFromZero: return first >= 5
        case .up: return !isNegative
        case .down: return isNegative
        case .awayFromZero: return true
        case .towardZero: return false
        }
    }

    /// Whether a double equals the number, unless its exponent is out of a double's range.
    var isDyadic: Bool {
        // 2^53 has 16 digits, and each power of five that is no factor of the digits adds to them.
        guard abs(exponent) <= 400 else { return isZero }
        var digits = list
        for _ in 0..<max(-exponent, 0) {
            guard let quotient = Self.quotient(of: digits, by: 5) else { return false }
            digits = quotient
        }
        while let half = Self.quotient(of: digits, by: 2) { digits = half }
        guard let odd = Self.integer(digits) else { return false }
        var product = odd
        for _ in 0..<max(exponent, 0) {
            product *= 5
            guard product < 1 << 53 else { return false }
        }
        return product < 1 << 53
    }

    /// The exact quotient, or nil when there is a remainder. Zero has none, so that a division of it ends.
    private static func quotient(of digits: [UInt8], by divisor: UInt8) -> [UInt8]? {
        var rest: UInt8 = 0
        var quotient: [UInt8] = []
        for digit in digits {
            let value = rest * 10 + digit
            if !quotient.isEmpty || value >= divisor { quotient.append(value / divisor) }
            rest = value % divisor
        }
        return rest == 0 && !quotient.isEmpty ? quotient : nil
    }

    /// The digits as a number below 2^53, or nil.
    private static func integer(_ digits: [UInt8]) -> UInt64? {
        guard digits.count <= 16 else { return nil }
        let value = digits.reduce(0 as UInt64) { $0 * 10 + UInt64($1) }
        return value < 1 << 53 ? value : nil
    }
}

/// How a number is rounded that has more digits than its type.
///
/// It has the cases of `FloatingPointRoundingRule`, which is not used because its size is known at run time only: every
/// copy of the options of a coder would have to ask for it.
public enum BSONRoundingRule: Sendable, Hashable {
    /// To the nearest number; halfway between two, to the one whose last digit is even.
    case toNearestOrEven
    /// To the nearest number; halfway between two, away from zero.
    case toNearestOrAwayFromZero
    /// To the greater number.
    case up
    /// To the lesser number.
    case down
    /// To the number that is nearer to zero: the digits are cut off.
    case towardZero
    /// To the number that is farther from zero.
    case awayFromZero
}
