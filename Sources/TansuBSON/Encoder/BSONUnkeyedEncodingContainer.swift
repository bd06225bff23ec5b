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
