#if TansuSync
import TansuBSON

/// A finite number as decimal digits, for the comparison of numbers that no machine type holds both.
struct ExactNumber {
    private var isNegative: Bool
    /// The digits, the highest first, without zeros at either end; none for zero.
    private var digits: [UInt8]
    /// The power of ten of the last digit.
    private var exponent: Int

    private init(isNegative: Bool, digits: some Sequence<UInt8>, exponent: Int) {
        self.isNegative = isNegative
        self.exponent = exponent
        self.digits = Array(digits.drop { $0 == 0 })
        while self.digits.last == 0 {
            self.digits.removeLast()
            self.exponent += 1
        }
        if self.digits.isEmpty {
            self.isNegative = false
            self.exponent = 0
        }
    }

    init(_ value: Int64) {
        self.init(
            isNegative: value < 0, digits: value.magnitude.description.utf8.map { $0 - 0x30 }, exponent: 0)
    }

    /// The exact value of a finite double, which is a whole number times a power of two.
    init(_ value: Double) {
        guard value != 0 else {
            self.init(0 as Int64)
            return
        }
        let significand = value.magnitude.significand * 0x1p52
        var power = Int(value.magnitude.exponent) - 52
        var whole = UInt64(significand)
        while whole % 2 == 0 {
            whole /= 2
            power += 1
        }
        // m / 2^p is m * 5^p / 10^p.
        var reversed = whole.description.utf8.reversed().map { $0 - 0x30 }
        for _ in 0..<abs(power) { Self.multiply(&reversed, by: power < 0 ? 5 : 2) }
        self.init(isNegative: value < 0, digits: reversed.reversed(), exponent: min(power, 0))
    }

    /// The value of a finite decimal.
    init(_ value: Decimal128) {
        let text = value.description
        let parts = text.split(separator: "E", maxSplits: 1)
        let mantissa = parts[0].drop { $0 == "-" || $0 == "+" }
        let point = mantissa.split(separator: ".", omittingEmptySubsequences: false)
        let fraction = point.count == 2 ? point[1].utf8.count : 0
        self.init(
            isNegative: text.hasPrefix("-"), digits: point.joined().utf8.map { $0 &- 0x30 },
            exponent: (parts.count == 2 ? Int(parts[1]) ?? 0 : 0) - fraction)
    }

    private static func multiply(_ reversed: inout [UInt8], by factor: UInt8) {
        var carry: UInt8 = 0
        for index in reversed.indices {
            let product = reversed[index] * factor + carry
            reversed[index] = product % 10
            carry = product / 10
        }
        if carry > 0 { reversed.append(carry) }
    }

    /// Appends bytes that have the order of the numbers, none of which is the beginning of another one's: the sign, the
    /// position of the first digit, two digits in each byte and a 0; all but the sign inverted for a negative number.
    func appendKey(to key: inout [UInt8]) {
        guard !digits.isEmpty else {
            key.append(0x80)
            return
        }
        let mask: UInt8 = isNegative ? 0xFF : 0
        key.append(isNegative ? 0x7F : 0x81)
        // Doubles and decimals have fewer than 10,000 places.
        let position = UInt16(clamping: 0x8000 + digits.count + exponent)
        key.append(UInt8(position >> 8) ^ mask)
        key.append(UInt8(position & 0xFF) ^ mask)
        var index = 0
        while index < digits.count {
            let second = index + 1 < digits.count ? digits[index + 1] : 0
            key.append((digits[index] * 10 + second + 1) ^ mask)
            index += 2
        }
        key.append(mask)
    }

    func order(_ other: ExactNumber) -> Collation.Order {
        if isNegative != other.isNegative { return isNegative ? .before : .after }
        let magnitudes = orderOfMagnitude(other)
        return isNegative ? magnitudes.reversed : magnitudes
    }

    private func orderOfMagnitude(_ other: ExactNumber) -> Collation.Order {
        if digits.isEmpty || other.digits.isEmpty {
            return Collation.Order(digits.isEmpty ? 0 : 1, other.digits.isEmpty ? 0 : 1)
        }
        let position = Collation.Order(digits.count + exponent, other.digits.count + other.exponent)
        if position != .same { return position }
        // Neither ends with a zero, so the one that is a prefix of the other is smaller.
        for (a, b) in zip(digits, other.digits) where a != b { return Collation.Order(a, b) }
        return Collation.Order(digits.count, other.digits.count)
    }
}

/// A number of any type, none of which is NaN or infinite: JSON has neither.
enum JSONNumber {
    case integer(Int64)
    case double(Double)
    case decimal(Decimal128)

    /// The number of a value, or nil when JSON cannot write the value as a number.
    init?(_ value: BSONValue) {
        switch value {
        case .int32(let number): self = .integer(Int64(number))
        case .int64(let number): self = .integer(number)
        case .double(let number) where number.isFinite: self = .double(number)
        case .decimal128(let number) where number.isFinite: self = .decimal(number)
        default: return nil
        }
    }

    /// The order of the exact values: no integer is rounded to a double first.
    func order(_ other: JSONNumber) -> Collation.Order {
        switch (self, other) {
        case (.integer(let a), .integer(let b)): Collation.Order(a, b)
        case (.double(let a), .double(let b)): Collation.Order(a, b)
        case (.integer(let a), .double(let b)): Self.order(a, b)
        case (.double(let a), .integer(let b)): Self.order(b, a).reversed
        default: exact.order(other.exact)
        }
    }

    /// Appends the number's sort key.
    func appendKey(to key: inout [UInt8]) { exact.appendKey(to: &key) }

    private var exact: ExactNumber {
        switch self {
        case .integer(let value): ExactNumber(value)
        case .double(let value): ExactNumber(value)
        case .decimal(let value): ExactNumber(value)
        }
    }

    private static func order(_ a: Int64, _ b: Double) -> Collation.Order {
        if b >= 0x1p63 { return .before }
        if b < -0x1p63 { return .after }
        let whole = Int64(b)
        return a == whole ? Collation.Order(Double(whole), b) : Collation.Order(a, whole)
    }
}
#endif
