import Foundation

/// The reason why a value cannot be written. The caller adds the path and converts it to an `EncodingError`.
enum WriteFailure: Error {
    /// BSON or the strategy cannot represent the value.
    case invalid(String)
    /// The error that the closure of a strategy threw.
    case failed(any Error)
}

extension EncoderState {
    /// The error for a value that could not be written.
    @inline(never)
    func failure(_ reason: WriteFailure, _ value: Any, _ path: [any CodingKey]) -> EncodingError {
        switch reason {
        case .invalid(let message):
            return .invalidValue(safeValue(value), .init(codingPath: path, debugDescription: message))
        case .failed(let error):
            if case EncodingError.invalidValue(let value, let context) = error {
                return .invalidValue(safeValue(value), context)
            }
            return .invalidValue(
                safeValue(value),
                .init(
                    codingPath: path, debugDescription: safeDescription(of: error), underlyingError: safeError(error)))
        }
    }

    /// Appends a number, as int32 when it fits and otherwise as int64.
    @inline(__always)
    func write(_ value: Int) -> BSONType {
        if let small = Int32(exactly: value) {
            buffer.append(littleEndian: small)
            return .int32
        }
        buffer.append(littleEndian: Int64(value))
        return .int64
    }

    @inline(__always)
    func write(_ value: Int64) -> BSONType {
        buffer.append(littleEndian: value)
        return .int64
    }

    @inline(__always)
    func write(_ value: Int32) -> BSONType {
        buffer.append(littleEndian: value)
        return .int32
    }

    @inline(__always)
    func write(_ value: Double) -> BSONType {
        buffer.append(littleEndian: value.bitPattern)
        return .double
    }

    @inline(__always)
    func write(_ value: Bool) -> BSONType {
        buffer.append(value ? 1 : 0 as UInt8)
        return .bool
    }

    @inline(__always)
    func write(_ value: String) -> BSONType {
        buffer.append(bsonString: value)
        return .string
    }

    /// Appends a number, as int32 when `type` is int32 and the number fits, as int64 when it fits into that, and
    /// otherwise as decimal128: the database compares numbers of all types by their value.
    func write<I: FixedWidthInteger>(wide value: I, as type: BSONType) throws(WriteFailure) -> BSONType {
        if let number = Int64(exactly: value) { return type == .int64 ? write(number) : write(Int(number)) }
        guard let number = Decimal128(String(value)) else {
            throw .invalid("The number \(value) has more than the 34 digits of decimal128; store it as text")
        }
        return write(.decimal128(number))
    }

    /// Appends a value of one of this module's types.
    func write(_ value: BSONValue) -> BSONType {
        buffer.append(value)
        return value.type
    }

    // MARK: Foundation's types

    func write(_ value: Date) throws(WriteFailure) -> BSONType {
        switch options.date {
        case .secondsSince1970:
            return write(value.timeIntervalSince1970)
        case .deferredToDate:
            return write(value.timeIntervalSinceReferenceDate)
        case .bsonDate:
            buffer.append(littleEndian: try Self.milliseconds(value))
            return .date
        case .millisecondsSince1970:
            return write(try Self.milliseconds(value))
        case .iso8601:
            guard let text = ISO8601.text(try Self.milliseconds(value), isSortable: true) else {
                throw .invalid("The year of the date is not between 0 and 9999")
            }
            return write(text)
        case .custom(let encode, _):
            let stored: BSONValue
            do { stored = try encode(value) } catch { throw .failed(error) }
            return write(stored)
        }
    }

    private static func milliseconds(_ value: Date) throws(WriteFailure) -> Int64 {
        if value.timeIntervalSince1970.isNaN { throw .invalid("The date is NaN, which is no time; store nil instead") }
        guard let milliseconds = Int64(exactly: (value.timeIntervalSince1970 * 1000).rounded()) else {
            throw .invalid("The date is out of the range of 64-bit milliseconds")
        }
        return milliseconds
    }

    func write(_ value: UUID) -> BSONType {
        switch options.uuid {
        case .binary:
            buffer.append(littleEndian: 16 as Int32)
            buffer.append(BSONBinary.Subtype.uuid.rawValue)
            withUnsafeBytes(of: value.uuid) { buffer.append($0) }
            return .binary
        case .string:
            return write(value.uuidString)
        }
    }

    func write(_ value: Data) throws(WriteFailure) -> BSONType {
        switch options.data {
        case .binary:
            guard let length = Int32(exactly: value.count) else { throw .invalid("The data is larger than 2 GiB") }
            buffer.append(littleEndian: length)
            buffer.append(BSONBinary.Subtype.generic.rawValue)
            value.withUnsafeBytes { buffer.append($0) }
            return .binary
        case .base64:
            return write(value.base64EncodedString())
        }
    }

    func write(_ value: Decimal) throws(WriteFailure) -> BSONType {
        switch options.decimal {
        case .string: return write(value.description)
        case .roundedDecimal128(let rule): return write(.decimal128(Decimal128(value, rounding: rule)))
        case .decimal128, .exactDecimal128:
            if let number = Decimal128(exactly: value) { return write(.decimal128(number)) }
            guard options.decimal == .decimal128, value.digits.wholeCount <= Decimal128.digitLimit else {
                throw .invalid(
                    "The number \(value) has more than the 34 digits of decimal128; round it, or set decimalStrategy")
            }
            return write(.decimal128(Decimal128(value)))
        case .double:
            guard let double = Double(value.description), value.isNaN || BSONValue.double(double).decimalValue == value
            else { throw .invalid("No double is read as the number \(value) again; round it, or set decimalStrategy") }
            return write(double)
        }
    }
}
