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
