import Foundation

extension DecoderState {
    /// How values of a type are read.
    @inline(__always)
    func kind<T>(_ type: T.Type) -> TypeKind {
        let kind = storage.pointee.types.kind(type) { $0 as? any BSONReadable.Type }
        switch kind {
        case .url: return options.url == .string ? kind : .foreign
        case .direct: return options.usesDirectCoding ? kind : .foreign
        default: return kind
        }
    }

    /// Decodes a value: natively where BSON or a strategy knows the type, otherwise by its own `init(from:)`.
    ///
    /// - Parameters:
    ///   - parent: The number of the place that the value is in, or -1.
    ///   - key: The value's key there.
    @inline(__always)
    func decode<T: Decodable, Key: CodingKey>(_ type: T.Type, _ value: Value, _ parent: Place, key: Key) throws -> T {
        let kind = kind(type)
        if kind == .foreign || kind == .direct {
            let place = push(value, parent: parent.index, key: key)
            defer { pop(downTo: place) }
            return try decodeItself(type, kind, value, place)
        }
        do {
            return try native(type, kind, value)
        } catch {
            throw failure(error, value, path(parent) + [key])
        }
    }

    /// Decodes an element of an array, as ``decode(_:_:_:key:)`` decodes a field.
    @inline(__always)
    func decode<T: Decodable>(_ type: T.Type, _ value: Value, _ parent: Place, position: Int) throws -> T {
        let kind = kind(type)
        if kind == .foreign || kind == .direct {
            let place = push(value, parent: parent.index, key: nil, position: Int32(truncatingIfNeeded: position))
            defer { pop(downTo: place) }
            return try decodeItself(type, kind, value, place)
        }
        do {
            return try native(type, kind, value)
        } catch {
            throw failure(error, value, path(parent) + [BSONCodingKey(intValue: position)])
        }
    }

    /// Decodes the value at a place.
    func decode<T: Decodable>(_ type: T.Type, _ value: Value, _ place: Place) throws -> T {
        let kind = kind(type)
        if kind == .foreign || kind == .direct { return try decodeItself(type, kind, value, place) }
        do {
            return try native(type, kind, value)
        } catch {
            throw failure(error, value, path(place))
        }
    }

    @inline(__always)
    private func decodeItself<T: Decodable>(
        _ type: T.Type, _ kind: TypeKind, _ value: Value, _ place: Place
    ) throws -> T {
        if kind == .direct { return try direct(type, value, place) }
        return try T(from: BSONDecoding(state: self, place: place))
    }

    /// A value of a type that the decoder knows.
    ///
    /// The casts are of a type to itself, which the kind says; `as?` would take longer than reading the value, and
    /// a generic function that handles an optional looks that type up whenever it is called.
    private func native<T>(_ type: T.Type, _ kind: TypeKind, _ value: Value) throws(Misread) -> T {
        switch kind {
        case .bool: return unsafeBitCast(try bool(value), to: type)
        case .string: return unsafeBitCast(try string(value), to: type)
        case .double: return unsafeBitCast(try double(value), to: type)
        case .float: return unsafeBitCast(try float(value), to: type)
        case .int: return unsafeBitCast(try integer(value, as: Int.self), to: type)
        case .int8: return unsafeBitCast(try integer(value, as: Int8.self), to: type)
        case .int16: return unsafeBitCast(try integer(value, as: Int16.self), to: type)
        case .int32: return unsafeBitCast(try integer(value, as: Int32.self), to: type)
        case .int64: return unsafeBitCast(try integer(value, as: Int64.self), to: type)
        case .uint: return unsafeBitCast(try integer(value, as: UInt.self), to: type)
        case .uint8: return unsafeBitCast(try integer(value, as: UInt8.self), to: type)
        case .uint16: return unsafeBitCast(try integer(value, as: UInt16.self), to: type)
        case .uint32: return unsafeBitCast(try integer(value, as: UInt32.self), to: type)
        case .uint64: return unsafeBitCast(try integer(value, as: UInt64.self), to: type)
        case .date: return unsafeBitCast(try date(value), to: type)
        case .data: return unsafeBitCast(try data(value), to: type)
        case .uuid: return unsafeBitCast(try uuid(value), to: type)
        case .url: return unsafeBitCast(try url(value), to: type)
        case .decimal: return unsafeBitCast(try decimal(value), to: type)
        case .objectID: return unsafeBitCast(try objectID(value), to: type)
        case .value: return unsafeBitCast(try own(value), to: type)
        case .document: return unsafeBitCast(try own(value, BSONDocument.self, \.documentValue), to: type)
        case .array: return unsafeBitCast(try own(value, BSONArray.self, \.arrayValue), to: type)
        case .decimal128: return unsafeBitCast(try own(value, Decimal128.self, \.decimal128Value), to: type)
        case .binary: return unsafeBitCast(try own(value, BSONBinary.self, \.binaryValue), to: type)
        case .timestamp: return unsafeBitCast(try own(value, BSONTimestamp.self, \.timestampValue), to: type)
        case .regularExpression:
            return unsafeBitCast(try own(value, BSONRegularExpression.self, \.regularExpressionValue), to: type)
        case .code: return unsafeBitCast(try own(value, BSONCode.self, \.codeValue), to: type)
        case .dbPointer: return unsafeBitCast(try own(value, BSONDBPointer.self, \.dbPointerValue), to: type)
        case .symbol: return unsafeBitCast(try own(value, BSONSymbol.self, \.symbolValue), to: type)
        case .foreign, .direct: throw .mismatch(type)
        }
    }

    @inline(__always)
    func objectID(_ value: Value) throws(Misread) -> ObjectID {
        guard value.isOf(.objectID) else { throw .mismatch(ObjectID.self) }
        return bytes.objectID(at: value.start)
    }

    private func own<T>(_ value: Value, _ type: T.Type, _ kind: (BSONValue) -> T?) throws(Misread) -> T {
        guard let found = kind(try own(value)) else { throw .mismatch(type) }
        return found
    }
}
