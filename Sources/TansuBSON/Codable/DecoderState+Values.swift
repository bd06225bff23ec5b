import Foundation

/// Why a value is not of the type that was asked for; whoever knows the path makes a `DecodingError` of it.
enum Misread: Error {
    /// The value is null or of another type.
    case mismatch(Any.Type)
    /// The value has a right type, but is not one that the target holds.
    case corrupted(String)
    /// What the reading of a strategy threw.
    case failed(any Error)
}

extension DecoderState {
    /// The error for a value that could not be read.
    @inline(never)
    func failure(_ reason: Misread, _ value: Value, _ path: [any CodingKey]) -> DecodingError {
        switch reason {
        case .mismatch(let target) where value.isOf(.null):
            return .valueNotFound(target, .init(codingPath: path, debugDescription: "a \(target) cannot be null"))
        case .mismatch(let target):
            let type = BSONType(rawValue: value.code)?.description ?? "unknown"
            return .typeMismatch(
                target,
                .init(codingPath: path, debugDescription: "a \(target) cannot be read from a value of type \(type)"))
        case .corrupted(let message):
            return .dataCorrupted(.init(codingPath: path, debugDescription: message))
        case .failed(let error):
            if let error = error as? DecodingError { return error }
            return .dataCorrupted(
                .init(codingPath: path, debugDescription: "\(error)", underlyingError: error))
        }
    }

    @inline(__always)
    func bool(_ value: Value) throws(Misread) -> Bool {
        guard value.isOf(.bool) else { throw .mismatch(Bool.self) }
        return bytes[value.start] != 0
    }

    @inline(__always)
    func string(_ value: Value) throws(Misread) -> String {
        guard value.isOf(.string) else { throw .mismatch(String.self) }
        return bytes.string(at: value.start)
    }

    @inline(__always)
    func double(_ value: Value) throws(Misread) -> Double {
        if value.isOf(.double) { return bytes.double(at: value.start) }
        return try converted(value)
    }

    private func converted(_ value: Value) throws(Misread) -> Double {
        let integer = try int64(value, as: Double.self)
        guard let number = Double(exactly: integer) else { throw Self.misfit(Double.self, "\(integer)") }
        return number
    }

    func float(_ value: Value) throws(Misread) -> Float {
        let number = try double(value)
        let float = Float(number)
        guard float.isFinite || !number.isFinite else { throw Self.misfit(Float.self, "\(number)") }
        return float
    }

    /// A number of any type as an integer type that must hold it exactly.
    @inline(__always)
    func integer<I: FixedWidthInteger>(_ value: Value, as type: I.Type) throws(Misread) -> I {
        let number: Int64
        if value.isOf(.int32) {
            number = Int64(bytes.int32(at: value.start))
        } else if value.isOf(.int64) {
            number = bytes.int64(at: value.start)
        } else {
            number = try int64(value, as: type)
        }
        guard let integer = I(exactly: number) else { throw Self.misfit(type, "\(number)") }
        return integer
    }

    private func int64(_ value: Value, as target: Any.Type) throws(Misread) -> Int64 {
        switch value.type {
        case .int32: return Int64(bytes.int32(at: value.start))
        case .int64: return bytes.int64(at: value.start)
        case .double:
            let number = bytes.double(at: value.start)
            guard let integer = Int64(exactly: number) else { throw Self.misfit(target, "\(number)") }
            return integer
        case .decimal128:
            let number = bytes.decimal128(at: value.start)
            guard let integer = Int64(exactly: number) else { throw Self.misfit(target, "\(number)") }
            return integer
        default:
            throw .mismatch(target)
        }
    }

    static func misfit(_ target: Any.Type, _ number: String) -> Misread {
        .corrupted("\(number) does not fit into a \(target)")
    }

    /// A value as one of this module's own.
    func own(_ value: Value) throws(Misread) -> BSONValue {
        guard let type = BSONType(rawValue: value.code),
            let own = bytes.value(
                RawElement(
                    type: type, start: 0, keyStart: 0, keyLength: 0, valueStart: value.start, valueEnd: value.end))
        else { throw .corrupted("the value is malformed") }
        return own
    }
}

extension BSONValue {
    var codeValue: BSONCode? {
        switch self {
        case .code(let code): BSONCode(code)
        case .codeWithScope(let code): code
        default: nil
        }
    }

    var dbPointerValue: BSONDBPointer? { if case .dbPointer(let value) = self { value } else { nil } }

    var symbolValue: BSONSymbol? { if case .symbol(let value) = self { value } else { nil } }
}
