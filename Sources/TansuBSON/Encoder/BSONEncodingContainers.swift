/// The container of a document's fields.
struct BSONKeyedEncodingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let state: EncoderState
    let handle: EncoderState.Handle

    var codingPath: [any CodingKey] { state.path(handle) }

    mutating func encodeNil(forKey key: Key) throws {
        try state.end(handle, state.begin(handle, key), .null)
    }

    mutating func encode(_ value: Bool, forKey key: Key) throws {
        let element = try state.begin(handle, key)
        try state.end(handle, element, state.write(value))
    }

    mutating func encode(_ value: String, forKey key: Key) throws {
        let element = try state.begin(handle, key)
        try state.end(handle, element, state.write(value))
    }

    mutating func encode(_ value: Double, forKey key: Key) throws {
        let element = try state.begin(handle, key)
        try state.end(handle, element, state.write(value))
    }

    mutating func encode(_ value: Float, forKey key: Key) throws {
        let element = try state.begin(handle, key)
        try state.end(handle, element, state.write(Double(value)))
    }

    mutating func encode(_ value: Int, forKey key: Key) throws {
        let element = try state.begin(handle, key)
        try state.end(handle, element, state.write(value))
    }

    mutating func encode(_ value: Int8, forKey key: Key) throws {
        let element = try state.begin(handle, key)
        try state.end(handle, element, state.write(Int32(value)))
    }

    mutating func encode(_ value: Int16, forKey key: Key) throws {
        let element = try state.begin(handle, key)
        try state.end(handle, element, state.write(Int32(value)))
    }

    mutating func encode(_ value: Int32, forKey key: Key) throws {
        let element = try state.begin(handle, key)
        try state.end(handle, element, state.write(value))
    }

    mutating func encode(_ value: Int64, forKey key: Key) throws {
        let element = try state.begin(handle, key)
        try state.end(handle, element, state.write(value))
    }

    mutating func encode(_ value: UInt8, forKey key: Key) throws {
        let element = try state.begin(handle, key)
        try state.end(handle, element, state.write(Int32(value)))
    }

    mutating func encode(_ value: UInt16, forKey key: Key) throws {
        let element = try state.begin(handle, key)
        try state.end(handle, element, state.write(Int32(value)))
    }

    mutating func encode(_ value: UInt32, forKey key: Key) throws {
        let element = try state.begin(handle, key)
        try state.end(handle, element, state.write(Int(value)))
    }

    mutating func encode(_ value: UInt, forKey key: Key) throws { try encode(wide: value, as: .int32, forKey: key) }
    mutating func encode(_ value: UInt64, forKey key: Key) throws { try encode(wide: value, as: .int64, forKey: key) }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    mutating func encode(_ value: Int128, forKey key: Key) throws { try encode(wide: value, as: .int64, forKey: key) }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    mutating func encode(_ value: UInt128, forKey key: Key) throws { try encode(wide: value, as: .int64, forKey: key) }

    private func encode<I: FixedWidthInteger>(wide value: I, as type: BSONType, forKey key: Key) throws {
        let element = try state.begin(handle, key)
        let written: BSONType
        do {
            written = try state.write(wide: value, as: type)
        } catch {
            state.buffer.truncate(to: element.typeOffset)
            throw state.failure(error, value, codingPath + [key])
        }
        try state.end(handle, element, written)
    }

    mutating func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        try state.encode(value, handle, state.begin(handle, key), key: key)
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        nested(key).container(keyedBy: keyType)
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        nested(key).unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder {
        nested(BSONCodingKey.superclass)
    }

    mutating func superEncoder(forKey key: Key) -> any Encoder { nested(key) }

    private func nested(_ key: some CodingKey) -> BSONValueEncoder {
        BSONValueEncoder(
            state: state, handle: state.nested { try state.slot(handle, state.begin(handle, key), key: key) })
    }
}

extension EncoderState {
    /// The handle that a closure returns, or an invalid handle when the closure throws. The error is kept for later.
    func nested(_ make: () throws -> Handle) -> Handle {
        do {
            return try make()
        } catch {
            failure = failure ?? error
            return Handle(index: .max, serial: 0)
        }
    }
}

/// The container of an array's elements.
struct BSONUnkeyedEncodingContainer: UnkeyedEncodingContainer {
    let state: EncoderState
    let handle: EncoderState.Handle

    var codingPath: [any CodingKey] { state.path(handle) }
    var count: Int { state.isValid(handle) ? Int(state.frames[Int(handle.index)].count) : 0 }

    mutating func encodeNil() throws {
        try state.end(handle, state.beginNext(handle), .null)
    }

    mutating func encode(_ value: Bool) throws {
        let element = try state.beginNext(handle)
        try state.end(handle, element, state.write(value))
    }

    mutating func encode(_ value: String) throws {
        let element = try state.beginNext(handle)
        try state.end(handle, element, state.write(value))
    }

    mutating func encode(_ value: Double) throws {
        let element = try state.beginNext(handle)
        try state.end(handle, element, state.write(value))
    }

    mutating func encode(_ value: Float) throws {
        let element = try state.beginNext(handle)
        try state.end(handle, element, state.write(Double(value)))
    }

    mutating func encode(_ value: Int) throws {
        let element = try state.beginNext(handle)
        try state.end(handle, element, state.write(value))
    }

    mutating func encode(_ value: Int8) throws {
        let element = try state.beginNext(handle)
        try state.end(handle, element, state.write(Int32(value)))
    }

    mutating func encode(_ value: Int16) throws {
        let element = try state.beginNext(handle)
        try state.end(handle, element, state.write(Int32(value)))
    }

    mutating func encode(_ value: Int32) throws {
        let element = try state.beginNext(handle)
        try state.end(handle, element, state.write(value))
    }

    mutating func encode(_ value: Int64) throws {
        let element = try state.beginNext(handle)
        try state.end(handle, element, state.write(value))
    }

    mutating func encode(_ value: UInt8) throws {
        let element = try state.beginNext(handle)
        try state.end(handle, element, state.write(Int32(value)))
    }

    mutating func encode(_ value: UInt16) throws {
        let element = try state.beginNext(handle)
        try state.end(handle, element, state.write(Int32(value)))
    }

    mutating func encode(_ value: UInt32) throws {
        let element = try state.beginNext(handle)
        try state.end(handle, element, state.write(Int(value)))
    }

    mutating func encode(_ value: UInt) throws { try encode(wide: value, as: .int32) }
    mutating func encode(_ value: UInt64) throws { try encode(wide: value, as: .int64) }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    mutating func encode(_ value: Int128) throws { try encode(wide: value, as: .int64) }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    mutating func encode(_ value: UInt128) throws { try encode(wide: value, as: .int64) }

    private func encode<I: FixedWidthInteger>(wide value: I, as type: BSONType) throws {
        let position = count
        let element = try state.beginNext(handle)
        let written: BSONType
        do {
            written = try state.write(wide: value, as: type)
        } catch {
            state.drop(handle, element)
            throw state.failure(error, value, codingPath + [BSONCodingKey(intValue: position)])
        }
        try state.end(handle, element, written)
    }

    mutating func encode<T: Encodable>(_ value: T) throws {
        let position = count
        let element = try state.beginNext(handle)
        do {
            try state.encode(value, handle, element, position: position)
        } catch {
            state.drop(handle, element)
            throw error
        }
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> {
        superEncoding().container(keyedBy: keyType)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        superEncoding().unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder { superEncoding() }

    private func superEncoding() -> BSONValueEncoder {
        let position = Int32(truncatingIfNeeded: count)
        return BSONValueEncoder(
            state: state,
            handle: state.nested { try state.slot(handle, state.beginNext(handle), key: nil, position: position) })
    }
}

extension EncoderState {
    /// Discards an array element whose encoding failed, so that the next element gets its position.
    func drop(_ handle: Handle, _ element: OpenElement) {
        if buffer.count > element.typeOffset { buffer.truncate(to: element.typeOffset) }
        if isValid(handle) { frames[Int(handle.index)].count -= 1 }
    }
}

/// The container of a single value.
struct BSONSingleValueEncodingContainer: SingleValueEncodingContainer {
    let state: EncoderState
    let handle: EncoderState.Handle

    var codingPath: [any CodingKey] { state.path(handle) }

    mutating func encodeNil() throws { try state.fill(handle) { .null } }
    mutating func encode(_ value: Bool) throws { try state.fill(handle) { state.write(value) } }
    mutating func encode(_ value: String) throws { try state.fill(handle) { state.write(value) } }
    mutating func encode(_ value: Double) throws { try state.fill(handle) { state.write(value) } }
    mutating func encode(_ value: Float) throws { try state.fill(handle) { state.write(Double(value)) } }
    mutating func encode(_ value: Int) throws { try state.fill(handle) { state.write(value) } }
    mutating func encode(_ value: Int8) throws { try state.fill(handle) { state.write(Int32(value)) } }
    mutating func encode(_ value: Int16) throws { try state.fill(handle) { state.write(Int32(value)) } }
    mutating func encode(_ value: Int32) throws { try state.fill(handle) { state.write(value) } }
    mutating func encode(_ value: Int64) throws { try state.fill(handle) { state.write(value) } }
    mutating func encode(_ value: UInt8) throws { try state.fill(handle) { state.write(Int32(value)) } }
    mutating func encode(_ value: UInt16) throws { try state.fill(handle) { state.write(Int32(value)) } }
    mutating func encode(_ value: UInt32) throws { try state.fill(handle) { state.write(Int(value)) } }
    mutating func encode(_ value: UInt) throws { try encode(wide: value, as: .int32) }
    mutating func encode(_ value: UInt64) throws { try encode(wide: value, as: .int64) }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    mutating func encode(_ value: Int128) throws { try encode(wide: value, as: .int64) }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    mutating func encode(_ value: UInt128) throws { try encode(wide: value, as: .int64) }

    private func encode<I: FixedWidthInteger>(wide value: I, as type: BSONType) throws {
        try state.fill(handle) {
            try written(value) { () throws(WriteFailure) in try state.write(wide: value, as: type) }
        }
    }

    mutating func encode<T: Encodable>(_ value: T) throws {
        let kind = state.kind(T.self)
        switch kind {
        case .codable:
            // Without this check a second keyed value would add its fields to those of the first.
            try state.checkEmpty(handle)
            try value.encode(to: BSONValueEncoder(state: state, handle: handle))
        case .hashed:
            try state.checkEmpty(handle)
            try value.encode(to: BSONValueEncoder(state: state, handle: handle))
            guard state.isValid(handle) else { return }
            if state.frames[Int(handle.index)].isOpen { try state.close(downTo: handle.index) }
            state.sortMembers(of: T.self, handle.index)
        case .direct:
            try state.fillDirect(handle, value)
        default:
            try state.fill(handle) {
                try written(value) { () throws(WriteFailure) in try state.writeNative(value, kind) }
            }
        }
    }

    private func written(_ value: Any, _ write: () throws(WriteFailure) -> BSONType) throws -> BSONType {
        do { return try write() } catch { throw state.failure(error, value, codingPath) }
    }
}
