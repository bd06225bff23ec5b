import Foundation

extension EncoderState {
    /// How values of a type are written.
    @inline(__always)
    func kind<T>(_ type: T.Type) -> TypeKind {
        let kind = storage.pointee.types.kind(type) { $0 as? any BSONWritable.Type }
        switch kind {
        case .url: return options.url == .string ? kind : .foreign
        case .direct: return options.usesDirectCoding ? kind : .foreign
        default: return kind
        }
    }

    /// Appends a value of a type that the encoder knows.
    ///
    /// The casts are of a type to itself, which the kind says; `as?` would take longer than writing the value.
    func writeNative<T>(_ value: T, _ kind: TypeKind) throws(Unwritable) -> BSONType {
        switch kind {
        case .bool: return write(unsafeBitCast(value, to: Bool.self))
        case .string: return write(unsafeBitCast(value, to: String.self))
        case .double: return write(unsafeBitCast(value, to: Double.self))
        case .float: return write(Double(unsafeBitCast(value, to: Float.self)))
        case .int: return write(unsafeBitCast(value, to: Int.self))
        case .int8: return write(Int32(unsafeBitCast(value, to: Int8.self)))
        case .int16: return write(Int32(unsafeBitCast(value, to: Int16.self)))
        case .int32: return write(unsafeBitCast(value, to: Int32.self))
        case .int64: return write(unsafeBitCast(value, to: Int64.self))
        case .uint: return try write(wide: unsafeBitCast(value, to: UInt.self), as: .int32)
        case .uint8: return write(Int32(unsafeBitCast(value, to: UInt8.self)))
        case .uint16: return write(Int32(unsafeBitCast(value, to: UInt16.self)))
        case .uint32: return write(Int(unsafeBitCast(value, to: UInt32.self)))
        case .uint64: return try write(wide: unsafeBitCast(value, to: UInt64.self), as: .int64)
        case .date: return try write(unsafeBitCast(value, to: Date.self))
        case .data: return try write(unsafeBitCast(value, to: Data.self))
        case .uuid: return write(unsafeBitCast(value, to: UUID.self))
        case .url: return write(unsafeBitCast(value, to: URL.self).absoluteString)
        case .decimal: return try write(unsafeBitCast(value, to: Decimal.self))
        case .objectID:
            buffer.append(unsafeBitCast(value, to: ObjectID.self))
            return .objectID
        case .value: return write(unsafeBitCast(value, to: BSONValue.self))
        case .document: return write(.document(unsafeBitCast(value, to: BSONDocument.self)))
        case .array: return write(.array(unsafeBitCast(value, to: BSONArray.self)))
        case .decimal128: return write(.decimal128(unsafeBitCast(value, to: Decimal128.self)))
        case .binary: return write(.binary(unsafeBitCast(value, to: BSONBinary.self)))
        case .timestamp: return write(.timestamp(unsafeBitCast(value, to: BSONTimestamp.self)))
        case .regularExpression:
            return write(.regularExpression(unsafeBitCast(value, to: BSONRegularExpression.self)))
        case .code: return write(BSONValue(unsafeBitCast(value, to: BSONCode.self)))
        case .dbPointer: return write(.dbPointer(unsafeBitCast(value, to: BSONDBPointer.self)))
        case .symbol: return write(.symbol(unsafeBitCast(value, to: BSONSymbol.self)))
        case .foreign, .direct: throw .invalid("\(T.self) writes itself")
        }
    }

    /// Encodes a value as an element that was begun.
    @inline(__always)
    func encode<T: Encodable, Key: CodingKey>(_ value: T, _ place: Place, _ begun: Begun, key: Key) throws {
        let kind = kind(T.self)
        if kind == .foreign || kind == .direct {
            let oldTop = top
            let index = push(typeAt: begun.typeAt, parent: place.index, key: key)
            try encodeItself(value, kind, place, begun, index, oldTop)
            return
        }
        do {
            try end(place, begun, writeNative(value, kind))
        } catch {
            throw takenBack(begun, error, value) { path(place) + [key] }
        }
    }

    /// Encodes a value as an element of an array that was begun.
    @inline(__always)
    func encode<T: Encodable>(_ value: T, _ place: Place, _ begun: Begun, position: Int) throws {
        let kind = kind(T.self)
        if kind == .foreign || kind == .direct {
            let oldTop = top
            let index = push(
                typeAt: begun.typeAt, parent: place.index, key: nil, position: Int32(truncatingIfNeeded: position))
            try encodeItself(value, kind, place, begun, index, oldTop)
            return
        }
        do {
            try end(place, begun, writeNative(value, kind))
        } catch {
            throw takenBack(begun, error, value) { path(place) + [BSONCodingKey(intValue: position)] }
        }
    }

    /// The error of an element whose half-written bytes are removed, because the caller may go on after it.
    private func takenBack(
        _ begun: Begun, _ error: any Error, _ value: Any, _ path: () -> [any CodingKey]
    ) -> any Error {
        if buffer.count > begun.typeAt { buffer.truncate(to: begun.typeAt) }
        if let reason = error as? Unwritable { return failure(reason, value, path()) }
        return error
    }

    private func encodeItself<T: Encodable>(
        _ value: T, _ kind: TypeKind, _ place: Place, _ begun: Begun, _ index: Int32, _ oldTop: Int32
    ) throws {
        do {
            guard frames[Int(index)].depth <= BSONDocument.maximumDepth + 1 else {
                throw tooDeep(index, value)
            }
            if kind == .direct {
                try writeDirect(value, index)
            } else {
                try value.encode(to: BSONEncoding(state: self, place: self.place(index)))
                if let failure { throw failure }
                try close(downTo: index)
                closeTop()
            }
            pop(downTo: index, top: oldTop)
            if begun.isDetour { try moveIn(place, from: begun.typeAt) }
        } catch {
            // The caller may go on after an error, so what was half written goes away.
            if buffer.count > begun.typeAt { buffer.truncate(to: begun.typeAt) }
            if frames.count > Int(index) { pop(downTo: index, top: oldTop) }
            throw error
        }
    }

    func tooDeep(_ index: Int32, _ value: Any) -> EncodingError {
        .invalidValue(
            value,
            .init(
                codingPath: path(place(index)),
                debugDescription: "values are nested over \(BSONDocument.maximumDepth) deep"))
    }
}
