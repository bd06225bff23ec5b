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

// MARK: - Types

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

// MARK: - Direct

extension EncoderState {
    /// Writes the fields of a ``BSONWritable`` value as the document of a frame.
    ///
    /// The buffer ends with the frame's type byte and key.
    func writeDirect<T: Encodable>(_ value: T, _ index: Int32) throws {
        guard let type = storage.pointee.types.direct(T.self) ?? T.self as? any BSONWritable.Type else {
            throw failure(.invalid("Type \(T.self) is not BSONWritable"), value, path(handle(index)))
        }
        buffer.store(BSONType.document.rawValue, at: frames[Int(index)].typeOffset)
        try writeFields(index) { fields in try Self.write(value, as: type, &fields) }
    }

    /// Calls `write(to:)` of a value.
    ///
    /// `type` is the type `T` as a metatype of the protocol, so the pointer is bound to the value's own type.
    private static func write<T, W: BSONWritable>(
        _ value: T, as type: W.Type, _ fields: inout BSONFieldWriter
    ) throws {
        try withUnsafePointer(to: value) { pointer in
            try UnsafeRawPointer(pointer).assumingMemoryBound(to: type).pointee.write(to: &fields)
        }
    }

    /// Writes the document of a frame with a closure.
    func writeFields(_ index: Int32, _ body: (inout BSONFieldWriter) throws -> Void) throws {
        guard frames[Int(index)].depth <= BSONDocument.maximumDepth else { throw tooDeep(index, "") }
        frames[Int(index)].kind = .keyed
        let serial = frames[Int(index)].serial
        let start = buffer.openDocument()
        var fields = BSONFieldWriter(self, index)
        try body(&fields)
        if let failure { throw failure }
        // Writing to an outer container in between closes this document.
        guard top == index, topSerial == serial else { throw containerClosed([]) }
        buffer.closeDocument(at: start)
        frames[Int(index)].isOpen = false
    }

    /// Fills a slot with the document of a ``BSONWritable`` value.
    func fillDirect<T: Encodable>(_ handle: Handle, _ value: T) throws {
        try checkEmpty(handle)
        guard frames[Int(handle.index)].isOpen else {
            // Only `encode(to:)` can fill a slot that is closed.
            try value.encode(to: BSONValueEncoder(state: self, handle: handle))
            return
        }
        try close(downTo: handle.index)
        try writeDirect(value, handle.index)
        frames[Int(handle.index)].kind = .single
        frames[Int(handle.index)].isOpen = true
    }
}
