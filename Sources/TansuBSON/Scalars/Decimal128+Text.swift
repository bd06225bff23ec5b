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
