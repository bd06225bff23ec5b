import Foundation

extension EncoderState {
    /// The kind of a type, with regard to the options.
    @inline(__always)
    func kind<T>(_ type: T.Type) -> TypeKind {
        let kind = storage.pointee.types.kind(type) { $0 as? any BSONWritable.Type }
        switch kind {
        case .url: return options.url == .string ? kind : .codable
        case .direct: return options.usesDirectCoding ? kind : .codable
        default: return kind
        }
    }

    /// Appends a value of a type that the encoder handles natively.
    ///
    /// The kind guarantees that each bit cast converts a type to itself, or a struct to its one property
    /// (``BSONTransparent``). `as?` takes longer than writing the value.
    func writeNative<T>(_ value: T, _ kind: TypeKind) throws(WriteFailure) -> BSONType {
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
        case .codable, .direct, .hashed: throw .invalid("Type \(T.self) is not a native type")
        }
    }

    /// Encodes a value as an open element of a document.
    @inline(__always)
    func encode<T: Encodable, Key: CodingKey>(_ value: T, _ handle: Handle, _ element: OpenElement, key: Key) throws {
        let kind = kind(T.self)
        if kind == .codable || kind == .direct || kind == .hashed {
            let oldTop = top
            let index = push(typeOffset: element.typeOffset, parent: handle.index, key: key)
            try encodeByType(value, kind, handle, element, index, oldTop)
            return
        }
        do {
            try end(handle, element, writeNative(value, kind))
        } catch {
            throw discarded(element, error, value) { path(handle) + [key] }
        }
    }

    /// Encodes a value as an open element of an array.
    @inline(__always)
    func encode<T: Encodable>(_ value: T, _ handle: Handle, _ element: OpenElement, position: Int) throws {
        let kind = kind(T.self)
        if kind == .codable || kind == .direct || kind == .hashed {
            let oldTop = top
            let index = push(
                typeOffset: element.typeOffset, parent: handle.index, key: nil,
                position: Int32(truncatingIfNeeded: position))
            try encodeByType(value, kind, handle, element, index, oldTop)
            return
        }
        do {
            try end(handle, element, writeNative(value, kind))
        } catch {
            throw discarded(element, error, value) { path(handle) + [BSONCodingKey(intValue: position)] }
        }
    }

    /// Discards the bytes of an incomplete element and returns the error. The caller may continue after the error.
    private func discarded(
        _ element: OpenElement, _ error: any Error, _ value: Any, _ path: () -> [any CodingKey]
    ) -> any Error {
        if buffer.count > element.typeOffset { buffer.truncate(to: element.typeOffset) }
        if let reason = error as? WriteFailure { return failure(reason, value, path()) }
        return error
    }

    private func encodeByType<T: Encodable>(
        _ value: T, _ kind: TypeKind, _ handle: Handle, _ element: OpenElement, _ index: Int32, _ oldTop: Int32
    ) throws {
        do {
            guard frames[Int(index)].depth <= BSONDocument.maximumDepth + 1 else {
                throw tooDeep(index, value)
            }
            if kind == .direct {
                try writeDirect(value, index)
            } else {
                try value.encode(to: BSONValueEncoder(state: self, handle: self.handle(index)))
                if let failure { throw failure }
                try close(downTo: index)
                closeTop()
                if kind == .hashed { sortMembers(of: T.self, index) }
            }
            pop(downTo: index, top: oldTop)
            if element.needsMove { try moveToContainer(handle, from: element.typeOffset) }
        } catch {
            // The caller may continue after an error, so the incomplete element is discarded.
            if buffer.count > element.typeOffset { buffer.truncate(to: element.typeOffset) }
            if frames.count > Int(index) { pop(downTo: index, top: oldTop) }
            throw error
        }
    }

    func tooDeep(_ index: Int32, _ value: Any) -> EncodingError {
        .invalidValue(
            safeValue(value),
            .init(
                codingPath: path(handle(index)),
                debugDescription: "Values are nested deeper than \(BSONDocument.maximumDepth) levels"))
    }
}
