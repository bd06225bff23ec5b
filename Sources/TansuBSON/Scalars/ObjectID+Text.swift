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

    /// The date of creation, to the second.
    public var timestamp: Date { Date(timeIntervalSince1970: Double(secondsSince1970)) }
}

extension ObjectID: Codable {
    /// Decodes an id: natively with ``BSONDecoder``, as hexadecimal text with any other decoder.
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

    /// Encodes the id: natively with ``BSONEncoder``, as hexadecimal text with any other encoder.
    ///
    /// - Throws: What the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(hexString)
    }
}
