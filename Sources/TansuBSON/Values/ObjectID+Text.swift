import Foundation

extension ObjectID: LosslessStringConvertible {
    /// Creates an id from 24 hexadecimal digits, or nil when the text is anything else.
    public init?(_ hexString: String) {
        guard let bytes = Hex.decode(hexString) else { return nil }
        self.init(bytes: bytes)
    }

    /// The id as 24 lower-case hexadecimal digits.
    public var hexString: String { Hex.encode(bytes) }

    /// The id as 24 lower-case hexadecimal digits.
    public var description: String { hexString }

    /// When the id was made, to the second.
    public var timestamp: Date { Date(timeIntervalSince1970: Double(secondsSince1970)) }
}

extension ObjectID: Codable {
    /// Reads an id: natively with ``BSONDecoder``, as hexadecimal text with any other decoder.
    ///
    /// - Throws: `DecodingError` when the text is not 24 hexadecimal digits.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let id = ObjectID(text) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "\"\(text)\" is not 24 hexadecimal digits")
        }
        self = id
    }

    /// Writes an id: natively with ``BSONEncoder``, as hexadecimal text with any other encoder.
    ///
    /// - Throws: What the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(hexString)
    }
}

/// Hexadecimal text.
enum Hex {
    private static let digits = Array("0123456789abcdef".utf8)

    static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x41...0x46: digit - 0x41 + 10
        case 0x61...0x66: digit - 0x61 + 10
        default: nil
        }
    }

    static func decode(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        var pending: UInt8?
        for digit in text.utf8 {
            guard let value = value(digit) else { return nil }
            if let high = pending {
                bytes.append(high << 4 | value)
                pending = nil
            } else {
                pending = value
            }
        }
        return pending == nil ? bytes : nil
    }
}
