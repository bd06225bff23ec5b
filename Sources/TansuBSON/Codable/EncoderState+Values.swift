import Foundation

extension EncoderState {
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

    /// Appends an unsigned number, which must fit into an int64.
    func write(unsigned value: UInt64, as type: BSONType, path: () -> [any CodingKey]) throws -> BSONType {
        guard let number = Int64(exactly: value) else {
            throw EncodingError.invalidValue(
                value, .init(codingPath: path(), debugDescription: "\(value) does not fit into an int64"))
        }
        return type == .int64 ? write(number) : write(Int(number))
    }

    /// Whether values of a type are written by `writeNative` rather than by their own `encode(to:)`.
    func isNative<T>(_ type: T.Type) -> Bool {
        if T.self == Date.self { return options.date != .deferredToDate }
        return T.self == ObjectID.self || T.self == UUID.self || T.self == Data.self || T.self == URL.self
            || T.self == Decimal.self || T.self == BSONValue.self || T.self == BSONDocument.self
            || T.self == BSONArray.self || T.self == Decimal128.self || T.self == BSONBinary.self
            || T.self == BSONTimestamp.self || T.self == BSONRegularExpression.self || T.self == BSONCode.self
            || T.self == BSONDBPointer.self || T.self == BSONSymbol.self
    }

    /// Appends a value of a type that BSON or a strategy knows; nil when the value has to encode itself.
    func writeNative<T>(_ value: T, path: () -> [any CodingKey]) throws -> BSONType? {
        if let value = sameType(value, as: Date.self) { return try write(value, path) }
        if let value = sameType(value, as: ObjectID.self) {
            buffer.append(value)
            return .objectID
        }
        if let value = sameType(value, as: UUID.self) { return write(value) }
        if let value = sameType(value, as: Data.self) { return write(value) }
        if let value = sameType(value, as: URL.self) { return write(value.absoluteString) }
        if let value = sameType(value, as: Decimal.self) { return try write(value, path) }
        return writeOwn(value)
    }

    /// Appends a value of one of this module's types.
    private func writeOwn<T>(_ value: T) -> BSONType? {
        if let value = sameType(value, as: BSONValue.self) { return write(value) }
        if let value = sameType(value, as: BSONDocument.self) { return write(.document(value)) }
        if let value = sameType(value, as: BSONArray.self) { return write(.array(value)) }
        if let value = sameType(value, as: Decimal128.self) { return write(.decimal128(value)) }
        if let value = sameType(value, as: BSONBinary.self) { return write(.binary(value)) }
        if let value = sameType(value, as: BSONTimestamp.self) { return write(.timestamp(value)) }
        if let value = sameType(value, as: BSONRegularExpression.self) { return write(.regularExpression(value)) }
        if let value = sameType(value, as: BSONCode.self) { return write(BSONValue(value)) }
        if let value = sameType(value, as: BSONDBPointer.self) { return write(.dbPointer(value)) }
        if let value = sameType(value, as: BSONSymbol.self) { return write(.symbol(value)) }
        return nil
    }

    private func write(_ value: BSONValue) -> BSONType {
        buffer.append(value)
        return value.type
    }

    private func write(_ value: Date, _ path: () -> [any CodingKey]) throws -> BSONType? {
        switch options.date {
        case .secondsSince1970: return write(value.timeIntervalSince1970)
        case .deferredToDate: return nil
        case .bsonDate, .millisecondsSince1970, .iso8601: break
        }
        func invalid(_ message: String) -> EncodingError {
            .invalidValue(value, .init(codingPath: path(), debugDescription: message))
        }
        guard let milliseconds = Int64(exactly: (value.timeIntervalSince1970 * 1000).rounded()) else {
            throw invalid("the date is out of the range of milliseconds in 64 bits")
        }
        guard options.date == .iso8601 else {
            buffer.append(littleEndian: milliseconds)
            return options.date == .bsonDate ? .date : .int64
        }
        guard let text = ISO8601.text(milliseconds) else {
            throw invalid("the year of the date is not one of 0...9999")
        }
        return write(text)
    }

    private func write(_ value: UUID) -> BSONType {
        switch options.uuid {
        case .binary: return write(.binary(BSONBinary(value)))
        case .string: return write(value.uuidString)
        }
    }

    private func write(_ value: Data) -> BSONType {
        switch options.data {
        case .binary:
            buffer.append(littleEndian: Int32(truncatingIfNeeded: value.count))
            buffer.append(BSONBinary.Subtype.generic.rawValue)
            value.withUnsafeBytes { buffer.append($0) }
            return .binary
        case .base64:
            return write(value.base64EncodedString())
        }
    }

    private func write(_ value: Decimal, _ path: () -> [any CodingKey]) throws -> BSONType {
        switch options.decimal {
        case .string: return write(value.description)
        case .decimal128:
            guard let number = Decimal128(exactly: value) else {
                throw EncodingError.invalidValue(
                    value,
                    .init(codingPath: path(), debugDescription: "\(value) has more digits than decimal128 holds"))
            }
            return write(.decimal128(number))
        }
    }
}
