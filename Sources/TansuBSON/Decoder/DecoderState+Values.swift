import Foundation

/// The reason why a value cannot be read as a type. The caller adds the path and converts it to a `DecodingError`.
enum ReadFailure: Error {
    /// The value is null or of another type.
    case mismatch(Any.Type)
    /// The target type cannot represent the value.
    case corrupted(String)
    /// The error that the closure of a strategy threw.
    case failed(any Error)
}

extension DecoderState {
    /// The error for a value that could not be read.
    @inline(never)
    func failure(_ reason: ReadFailure, _ value: Value, _ path: [any CodingKey]) -> DecodingError {
        switch reason {
        case .mismatch(let target) where value.isOf(.null):
            return .valueNotFound(
                target, .init(codingPath: path, debugDescription: "A value of type \(target) cannot be null"))
        case .mismatch(let target):
            let type = BSONType(rawValue: value.code)?.description ?? "unknown"
            return .typeMismatch(
                target,
                .init(
                    codingPath: path, debugDescription: "Expected a value of type \(target) but found type \"\(type)\"")
            )
        case .corrupted(let message):
            return .dataCorrupted(.init(codingPath: path, debugDescription: message))
        case .failed(let error):
            if let error = error as? DecodingError { return error }
            return .dataCorrupted(
                .init(codingPath: path, debugDescription: safeDescription(of: error), underlyingError: safeError(error))
            )
        }
    }

    @inline(__always)
    func bool(_ value: Value) throws(ReadFailure) -> Bool {
        guard value.isOf(.bool) else { throw .mismatch(Bool.self) }
        return bytes[value.start] != 0
    }

    @inline(__always)
    func string(_ value: Value) throws(ReadFailure) -> String {
        guard value.isOf(.string) else { throw .mismatch(String.self) }
        return bytes.string(at: value.start)
    }

    @inline(__always)
    func double(_ value: Value) throws(ReadFailure) -> Double {
        if value.isOf(.double) { return bytes.double(at: value.start) }
        return try converted(value)
    }

    /// Decodes an integer or a decimal as a double.
    private func converted(_ value: Value) throws(ReadFailure) -> Double {
        let isRounded = options.double == .rounded
        if value.isOf(.decimal128) {
            let number = bytes.decimal128(at: value.start)
            guard let double = isRounded ? Double(number) : Double(lossless: number) else {
                throw Self.inexact("\(number)")
            }
            guard double.isFinite || !number.isFinite else { throw Self.outOfRange(Double.self, "\(number)") }
            return double
        }
        let integer: Int64
        switch value.type {
        case .int32: integer = Int64(bytes.int32(at: value.start))
        case .int64: integer = bytes.int64(at: value.start)
        default: throw .mismatch(Double.self)
        }
        guard let double = isRounded ? Double(integer) : Double(exactly: integer) else {
            throw Self.inexact("\(integer)")
        }
        return double
    }

    private static func inexact(_ number: String) -> ReadFailure {
        .corrupted("No Double equals the number \(number); set doubleStrategy to .rounded, or use Decimal or Int64")
    }

    func float(_ value: Value) throws(ReadFailure) -> Float {
        let number = try double(value)
        let float = Float(number)
        guard float.isFinite || !number.isFinite else { throw Self.outOfRange(Float.self, "\(number)") }
        return float
    }

    /// Decodes a number of any type as an integer type that must represent it exactly.
    @inline(__always)
    func integer<I: FixedWidthInteger>(_ value: Value, as type: I.Type) throws(ReadFailure) -> I {
        let number: Int64
        if value.isOf(.int32) {
            number = Int64(bytes.int32(at: value.start))
        } else if value.isOf(.int64) {
            number = bytes.int64(at: value.start)
        } else {
            return try wide(value, as: type)
        }
        guard let integer = I(exactly: number) else { throw Self.outOfRange(type, "\(number)") }
        return integer
    }

    /// Decodes a double or a decimal as an integer type.
    @inline(never)
    private func wide<I: FixedWidthInteger>(_ value: Value, as type: I.Type) throws(ReadFailure) -> I {
        switch value.type {
        case .double:
            let number = bytes.double(at: value.start)
            guard let integer = I(exactly: number) else { throw Self.outOfRange(type, "\(number)") }
            return integer
        case .decimal128:
            let number = bytes.decimal128(at: value.start)
            guard let integer = I(exactly: number) else { throw Self.outOfRange(type, "\(number)") }
            return integer
        default: throw .mismatch(type)
        }
    }

    static func outOfRange(_ target: Any.Type, _ number: String) -> ReadFailure {
        .corrupted("The number \(number) does not fit into type \(target)")
    }

    /// Decodes a value of any type as a ``BSONValue``.
    func bsonValue(_ value: Value) throws(ReadFailure) -> BSONValue {
        guard let type = BSONType(rawValue: value.code),
            let result = bytes.value(
                RawElement(
                    type: type, start: 0, keyStart: 0, keyLength: 0, valueStart: value.start, valueEnd: value.end))
        else { throw .corrupted("The value is malformed") }
        return result
    }
}

// MARK: - Foundation

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
