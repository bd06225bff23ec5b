import Foundation

extension DecoderState {
    /// The kind of a type, with regard to the options.
    @inline(__always)
    func kind<T>(_ type: T.Type) -> TypeKind {
        let kind = storage.pointee.types.kind(type) { $0 as? any BSONReadable.Type }
        switch kind {
        case .url: return options.url == .string ? kind : .codable
        case .direct: return options.usesDirectCoding ? kind : .codable
        case .hashed: return .codable
        default: return kind
        }
    }

    /// Decodes a field: natively for the types that the decoder handles, otherwise with the type's initializer.
    ///
    /// - Parameters:
    ///   - parent: The frame of the document that contains the field.
    ///   - key: The key of the field.
    @inline(__always)
    func decode<T: Decodable, Key: CodingKey>(_ type: T.Type, _ value: Value, _ parent: Handle, key: Key) throws -> T {
        let kind = kind(type)
        if kind == .codable || kind == .direct {
            let handle = push(value, parent: parent.index, key: key)
            defer { pop(downTo: handle) }
            return try decodeByType(type, kind, value, handle)
        }
        do {
            return try native(type, kind, value)
        } catch {
            throw failure(error, value, path(parent) + [key])
        }
    }

    /// Decodes an element of an array in the same way as ``decode(_:_:_:key:)`` decodes a field.
    @inline(__always)
    func decode<T: Decodable>(_ type: T.Type, _ value: Value, _ parent: Handle, position: Int) throws -> T {
        let kind = kind(type)
        if kind == .codable || kind == .direct {
            let handle = push(value, parent: parent.index, key: nil, position: Int32(truncatingIfNeeded: position))
            defer { pop(downTo: handle) }
            return try decodeByType(type, kind, value, handle)
        }
        do {
            return try native(type, kind, value)
        } catch {
            throw failure(error, value, path(parent) + [BSONCodingKey(intValue: position)])
        }
    }

    /// Decodes the value of a frame.
    func decode<T: Decodable>(_ type: T.Type, _ value: Value, _ handle: Handle) throws -> T {
        let kind = kind(type)
        if kind == .codable || kind == .direct { return try decodeByType(type, kind, value, handle) }
        do {
            return try native(type, kind, value)
        } catch {
            throw failure(error, value, path(handle))
        }
    }

    @inline(__always)
    private func decodeByType<T: Decodable>(
        _ type: T.Type, _ kind: TypeKind, _ value: Value, _ handle: Handle
    ) throws -> T {
        if kind == .direct { return try direct(type, value, handle) }
        return try T(from: BSONValueDecoder(state: self, handle: handle))
    }

    /// Decodes a value of a type that the decoder handles natively.
    ///
    /// The kind guarantees that each bit cast converts a type to itself, or to a struct of it (``BSONTransparent``). `as?`
    /// takes longer than reading the value, and a generic function that handles an optional looks up the type's metadata
    /// on every call.
    private func native<T>(_ type: T.Type, _ kind: TypeKind, _ value: Value) throws(ReadFailure) -> T {
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
        case .value: return unsafeBitCast(try bsonValue(value), to: type)
        case .document: return unsafeBitCast(try bsonValue(value, BSONDocument.self, \.documentValue), to: type)
        case .array: return unsafeBitCast(try bsonValue(value, BSONArray.self, \.arrayValue), to: type)
        case .decimal128: return unsafeBitCast(try bsonValue(value, Decimal128.self, \.decimal128Value), to: type)
        case .binary: return unsafeBitCast(try bsonValue(value, BSONBinary.self, \.binaryValue), to: type)
        case .timestamp: return unsafeBitCast(try bsonValue(value, BSONTimestamp.self, \.timestampValue), to: type)
        case .regularExpression:
            return unsafeBitCast(try bsonValue(value, BSONRegularExpression.self, \.regularExpressionValue), to: type)
        case .code: return unsafeBitCast(try bsonValue(value, BSONCode.self, \.codeValue), to: type)
        case .dbPointer: return unsafeBitCast(try bsonValue(value, BSONDBPointer.self, \.dbPointerValue), to: type)
        case .symbol: return unsafeBitCast(try bsonValue(value, BSONSymbol.self, \.symbolValue), to: type)
        case .codable, .direct, .hashed: throw .mismatch(type)
        }
    }

    @inline(__always)
    func objectID(_ value: Value) throws(ReadFailure) -> ObjectID {
        guard value.isOf(.objectID) else { throw .mismatch(ObjectID.self) }
        return bytes.objectID(at: value.start)
    }

    private func bsonValue<T>(_ value: Value, _ type: T.Type, _ kind: (BSONValue) -> T?) throws(ReadFailure) -> T {
        guard let found = kind(try bsonValue(value)) else { throw .mismatch(type) }
        return found
    }
}
