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
