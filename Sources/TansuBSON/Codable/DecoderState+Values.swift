import Foundation

extension DecoderState {
    typealias Path = () -> [any CodingKey]

    func bool(_ value: Value, _ path: Path) throws -> Bool {
        guard value.type == .bool else { throw mismatch(Bool.self, value, path()) }
        return bytes[value.start] != 0
    }

    @inline(__always)
    func string(_ value: Value, _ path: Path) throws -> String {
        guard value.type == .string else { throw mismatch(String.self, value, path()) }
        return bytes.string(at: value.start)
    }

    @inline(__always)
    func double(_ value: Value, _ path: Path) throws -> Double {
        if value.type == .double { return bytes.double(at: value.start) }
        return try converted(value, path)
    }

    private func converted(_ value: Value, _ path: Path) throws -> Double {
        let integer = try int64(value, as: Double.self, path)
        guard let number = Double(exactly: integer) else { throw misfit(Double.self, "\(integer)", path()) }
        return number
    }

    func float(_ value: Value, _ path: Path) throws -> Float {
        let number = try double(value, path)
        let float = Float(number)
        guard float.isFinite || !number.isFinite else { throw misfit(Float.self, "\(number)", path()) }
        return float
    }

    /// A number of any type as an integer type that must hold it exactly.
    @inline(__always)
    func integer<I: FixedWidthInteger>(_ value: Value, as type: I.Type, _ path: Path) throws -> I {
        let number =
            switch value.type {
            case .int32: Int64(bytes.int32(at: value.start))
            case .int64: bytes.int64(at: value.start)
            default: try int64(value, as: type, path)
            }
        guard let integer = I(exactly: number) else { throw misfit(type, "\(number)", path()) }
        return integer
    }

    private func int64(_ value: Value, as target: Any.Type, _ path: Path) throws -> Int64 {
        switch value.type {
        case .int32: return Int64(bytes.int32(at: value.start))
        case .int64: return bytes.int64(at: value.start)
        case .double:
            let number = bytes.double(at: value.start)
            guard let integer = Int64(exactly: number) else { throw misfit(target, "\(number)", path()) }
            return integer
        case .decimal128:
            let number = bytes.decimal128(at: value.start)
            guard let integer = Int64(exactly: number) else { throw misfit(target, "\(number)", path()) }
            return integer
        default:
            throw mismatch(target, value, path())
        }
    }

    private func misfit(_ target: Any.Type, _ number: String, _ path: [any CodingKey]) -> DecodingError {
        corrupted("\(number) does not fit into a \(target)", path)
    }

    private func corrupted(_ message: String, _ path: [any CodingKey]) -> DecodingError {
        .dataCorrupted(.init(codingPath: path, debugDescription: message))
    }

    // MARK: Any type

    /// Decodes a value: natively where BSON or a strategy knows the type, otherwise by its own `init(from:)`.
    func decode<T: Decodable>(_ type: T.Type, _ value: Value, parent: Int32, key: (any CodingKey)?) throws -> T {
        let place = push(value, parent: parent, key: key)
        defer { pop(downTo: place) }
        return try decode(type, value, place)
    }

    /// Decodes the value at a place.
    func decode<T: Decodable>(_ type: T.Type, _ value: Value, _ place: Place) throws -> T {
        guard isNative(type) else { return try T(from: BSONDecoding(state: self, place: place)) }
        guard let native = try readNative(type, value, { self.path(place) }) else {
            throw mismatch(type, value, path(place))
        }
        return native
    }

    /// Whether values of a type are read by `readNative` rather than by their own `init(from:)`.
    private func isNative<T>(_ type: T.Type) -> Bool {
        if T.self == Date.self { return options.date != .deferredToDate }
        return T.self == ObjectID.self || T.self == UUID.self || T.self == Data.self || T.self == URL.self
            || T.self == Decimal.self || T.self == BSONValue.self || T.self == BSONDocument.self
            || T.self == BSONArray.self || T.self == Decimal128.self || T.self == BSONBinary.self
            || T.self == BSONTimestamp.self || T.self == BSONRegularExpression.self || T.self == BSONCode.self
            || T.self == BSONDBPointer.self || T.self == BSONSymbol.self
    }

    // Not inlined, because a generic function that handles an optional looks that type up whenever it is called.
    @inline(never)
    private func readNative<T>(_ type: T.Type, _ value: Value, _ path: Path) throws -> T? {
        if T.self == Date.self {
            return try date(value, path).flatMap { sameType($0, as: T.self) }
        }
        if T.self == ObjectID.self {
            guard value.type == .objectID else { throw mismatch(type, value, path()) }
            return sameType(bytes.objectID(at: value.start), as: T.self)
        }
        if T.self == UUID.self { return sameType(try uuid(value, path), as: T.self) }
        if T.self == Data.self { return sameType(try data(value, path), as: T.self) }
        if T.self == URL.self { return sameType(try url(value, path), as: T.self) }
        if T.self == Decimal.self { return sameType(try decimal(value, path), as: T.self) }
        return try readOwn(type, value, path)
    }

    /// A value of one of this module's types.
    private func readOwn<T>(_ type: T.Type, _ value: Value, _ path: Path) throws -> T? {
        if T.self == BSONValue.self { return sameType(try own(value, path), as: T.self) }
        func required<U>(_ found: U?) throws -> T? {
            guard let found else { throw mismatch(type, value, path()) }
            return sameType(found, as: T.self)
        }
        if T.self == BSONDocument.self { return try required(own(value, path).documentValue) }
        if T.self == BSONArray.self { return try required(own(value, path).arrayValue) }
        if T.self == Decimal128.self { return try required(own(value, path).decimal128Value) }
        if T.self == BSONBinary.self { return try required(own(value, path).binaryValue) }
        if T.self == BSONTimestamp.self { return try required(own(value, path).timestampValue) }
        if T.self == BSONRegularExpression.self { return try required(own(value, path).regularExpressionValue) }
        if T.self == BSONCode.self { return try required(own(value, path).codeValue) }
        if T.self == BSONDBPointer.self { return try required(own(value, path).dbPointerValue) }
        if T.self == BSONSymbol.self { return try required(own(value, path).symbolValue) }
        return nil
    }

    private func own(_ value: Value, _ path: Path) throws -> BSONValue {
        let element = RawElement(
            type: value.type, start: 0, keyStart: 0, keyLength: 0, valueStart: value.start, valueEnd: value.end)
        guard let own = bytes.value(element) else { throw corrupted("the value is malformed", path()) }
        return own
    }

    // MARK: Foundation's types

    private func date(_ value: Value, _ path: Path) throws -> Date? {
        switch options.date {
        case .bsonDate:
            guard value.type == .date else { throw mismatch(Date.self, value, path()) }
            return Date(timeIntervalSince1970: Double(bytes.int64(at: value.start)) / 1000)
        case .iso8601:
            let text = try string(value, path)
            guard let milliseconds = ISO8601.milliseconds(text) else {
                throw corrupted("\"\(text)\" is not a date in ISO 8601", path())
            }
            return Date(timeIntervalSince1970: Double(milliseconds) / 1000)
        case .secondsSince1970:
            return Date(timeIntervalSince1970: try double(value, path))
        case .millisecondsSince1970:
            return Date(timeIntervalSince1970: Double(try integer(value, as: Int64.self, path)) / 1000)
        case .deferredToDate:
            return nil
        }
    }

    private func uuid(_ value: Value, _ path: Path) throws -> UUID {
        switch options.uuid {
        case .binary:
            guard value.type == .binary else { throw mismatch(UUID.self, value, path()) }
            guard let uuid = try own(value, path).binaryValue?.uuid else {
                throw corrupted("a UUID is 16 bytes of subtype 4", path())
            }
            return uuid
        case .string:
            let text = try string(value, path)
            guard let uuid = UUID(uuidString: text) else { throw corrupted("\"\(text)\" is not a UUID", path()) }
            return uuid
        }
    }

    private func data(_ value: Value, _ path: Path) throws -> Data {
        switch options.data {
        case .binary:
            guard value.type == .binary else { throw mismatch(Data.self, value, path()) }
            return Data(bytes[value.start + 5..<value.end])
        case .base64:
            guard let data = Data(base64Encoded: try string(value, path)) else {
                throw corrupted("the text is not base64", path())
            }
            return data
        }
    }

    private func url(_ value: Value, _ path: Path) throws -> URL {
        let text = try string(value, path)
        guard let url = URL(string: text) else { throw corrupted("\"\(text)\" is not a URL", path()) }
        return url
    }

    private func decimal(_ value: Value, _ path: Path) throws -> Decimal {
        switch options.decimal {
        case .decimal128:
            guard value.type == .decimal128 else {
                return Decimal(try integer(value, as: Int64.self, path))
            }
            let number = bytes.decimal128(at: value.start)
            guard let decimal = Decimal(exactly: number) else { throw misfit(Decimal.self, "\(number)", path()) }
            return decimal
        case .string:
            let text = try string(value, path)
            // Our own number type checks the text, because `Decimal` stops at what it does not understand.
            guard Decimal128(text) != nil || text.utf8.count > Decimal128.digitLimit,
                let decimal = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
            else { throw corrupted("\"\(text)\" is not a number", path()) }
            return decimal
        }
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
