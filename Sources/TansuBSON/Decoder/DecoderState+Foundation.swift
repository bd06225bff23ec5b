import Foundation

/// The decoding of Foundation's types by their strategies.
extension DecoderState {
    /// Decodes a date. BSON's own is one whatever the strategy: the timestamps of a collection are.
    func date(_ value: Value) throws(ReadFailure) -> Date {
        if case .custom(_, let decode) = options.date {
            let result = try bsonValue(value)
            do { return try decode(result) } catch {
                if let date = bsonDate(value) { return date }
                throw .failed(error)
            }
        }
        if let date = bsonDate(value) { return date }
        return try encodedDate(value)
    }

    private func bsonDate(_ value: Value) -> Date? {
        guard value.isOf(.date) else { return nil }
        return Date(timeIntervalSince1970: Double(bytes.int64(at: value.start)) / 1000)
    }

    private func encodedDate(_ value: Value) throws(ReadFailure) -> Date {
        switch options.date {
        case .bsonDate, .custom: throw .mismatch(Date.self)
        case .iso8601:
            let text = try string(value)
            guard let milliseconds = ISO8601.milliseconds(text) else {
                throw .corrupted("\"\(text)\" is not an ISO 8601 date")
            }
            return Date(timeIntervalSince1970: Double(milliseconds) / 1000)
        case .secondsSince1970:
            return Date(timeIntervalSince1970: try double(value))
        case .millisecondsSince1970:
            return Date(timeIntervalSince1970: Double(try integer(value, as: Int64.self)) / 1000)
        case .deferredToDate:
            return Date(timeIntervalSinceReferenceDate: try double(value))
        }
    }

    func uuid(_ value: Value) throws(ReadFailure) -> UUID {
        switch options.uuid {
        case .binary:
            guard value.isOf(.binary) else { throw .mismatch(UUID.self) }
            guard value.end - value.start == 21, bytes[value.start + 4] == BSONBinary.Subtype.uuid.rawValue else {
                throw .corrupted("The binary value is not a UUID of 16 bytes and subtype 4")
            }
            return UUID(uuid: bytes.loadUnaligned(fromByteOffset: value.start + 5, as: uuid_t.self))
        case .string:
            let text = try string(value)
            guard let uuid = UUID(uuidString: text) else { throw .corrupted("\"\(text)\" is not a UUID") }
            return uuid
        }
    }

    func data(_ value: Value) throws(ReadFailure) -> Data {
        switch options.data {
        case .binary:
            guard value.isOf(.binary) else { throw .mismatch(Data.self) }
            return Data(bytes[bytes.binaryStart(value.start, value.end)..<value.end])
        case .base64:
            guard let data = Data(base64Encoded: try string(value)) else {
                throw .corrupted("The text is not valid base64")
            }
            return data
        }
    }

    func url(_ value: Value) throws(ReadFailure) -> URL {
        let text = try string(value)
        guard let url = URL(string: text) else { throw .corrupted("\"\(text)\" is not a URL") }
        return url
    }

    func decimal(_ value: Value) throws(ReadFailure) -> Decimal {
        switch options.decimal {
        case .decimal128, .exactDecimal128, .roundedDecimal128, .double:
            let number: Decimal128
            switch value.type {
            case .decimal128: number = bytes.decimal128(at: value.start)
            case .double: number = Decimal128(shortest: bytes.double(at: value.start))
            case .int32, .int64: return Decimal(try integer(value, as: Int64.self))
            default: throw .mismatch(Decimal.self)
            }
            guard let decimal = Decimal(exactly: number) else { throw Self.outOfRange(Decimal.self, "\(number)") }
            return decimal
        case .string:
            let text = try string(value)
            if text == "NaN" { return .nan }
            // `Decimal` ignores text after a number.
            guard Self.isDecimal(text), let decimal = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
            else { throw .corrupted("\"\(text)\" is not a number") }
            return decimal
        }
    }

    /// Whether a text is a number: an optional sign, digits with an optional decimal point, and an optional exponent.
    private static func isDecimal(_ text: String) -> Bool {
        var rest = text.utf8[...]
        func isSign(_ byte: UInt8) -> Bool { byte == 0x2B || byte == 0x2D }
        func digits() -> Int {
            let count = rest.prefix { $0 >= 0x30 && $0 <= 0x39 }.count
            rest = rest.dropFirst(count)
            return count
        }
        if let first = rest.first, isSign(first) { rest = rest.dropFirst() }
        var count = digits()
        if rest.first == 0x2E {
            rest = rest.dropFirst()
            count += digits()
        }
        guard count > 0 else { return false }
        if rest.first == 0x65 || rest.first == 0x45 {
            rest = rest.dropFirst()
            if let sign = rest.first, isSign(sign) { rest = rest.dropFirst() }
            guard digits() > 0 else { return false }
        }
        return rest.isEmpty
    }
}
