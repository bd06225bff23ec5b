/// The container of an array's elements.
struct BSONUnkeyedEncoding: UnkeyedEncodingContainer {
    let state: EncoderState
    let place: EncoderState.Place

    var codingPath: [any CodingKey] { state.path(place) }
    var count: Int { state.isAlive(place) ? Int(state.frames[Int(place.index)].count) : 0 }

    mutating func encodeNil() throws {
        try state.end(place, state.beginNext(place), .null)
    }

    mutating func encode(_ value: Bool) throws {
        let begun = try state.beginNext(place)
        try state.end(place, begun, state.write(value))
    }

    mutating func encode(_ value: String) throws {
        let begun = try state.beginNext(place)
        try state.end(place, begun, state.write(value))
    }

    mutating func encode(_ value: Double) throws {
        let begun = try state.beginNext(place)
        try state.end(place, begun, state.write(value))
    }

    mutating func encode(_ value: Float) throws {
        let begun = try state.beginNext(place)
        try state.end(place, begun, state.write(Double(value)))
    }

    mutating func encode(_ value: Int) throws {
        let begun = try state.beginNext(place)
        try state.end(place, begun, state.write(value))
    }

    mutating func encode(_ value: Int8) throws {
        let begun = try state.beginNext(place)
        try state.end(place, begun, state.write(Int32(value)))
    }

    mutating func encode(_ value: Int16) throws {
        let begun = try state.beginNext(place)
        try state.end(place, begun, state.write(Int32(value)))
    }

    mutating func encode(_ value: Int32) throws {
        let begun = try state.beginNext(place)
        try state.end(place, begun, state.write(value))
    }

    mutating func encode(_ value: Int64) throws {
        let begun = try state.beginNext(place)
        try state.end(place, begun, state.write(value))
    }

    mutating func encode(_ value: UInt8) throws {
        let begun = try state.beginNext(place)
        try state.end(place, begun, state.write(Int32(value)))
    }

    mutating func encode(_ value: UInt16) throws {
        let begun = try state.beginNext(place)
        try state.end(place, begun, state.write(Int32(value)))
    }

    mutating func encode(_ value: UInt32) throws {
        let begun = try state.beginNext(place)
        try state.end(place, begun, state.write(Int(value)))
    }

    mutating func encode(_ value: UInt) throws { try encode(wide: value, as: .int32) }
    mutating func encode(_ value: UInt64) throws { try encode(wide: value, as: .int64) }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    mutating func encode(_ value: Int128) throws { try encode(wide: value, as: .int64) }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    mutating func encode(_ value: UInt128) throws { try encode(wide: value, as: .int64) }

    private func encode<I: FixedWidthInteger>(wide value: I, as type: BSONType) throws {
        let position = count
        let begun = try state.beginNext(place)
        let written: BSONType
        do {
            written = try state.write(wide: value, as: type)
        } catch {
            state.drop(place, begun)
            throw state.failure(error, value, codingPath + [BSONCodingKey(intValue: position)])
        }
        try state.end(place, begun, written)
    }

    mutating func encode<T: Encodable>(_ value: T) throws {
        let position = count
        let begun = try state.beginNext(place)
        do {
            try state.encode(value, place, begun, position: position)
        } catch {
            state.drop(place, begun)
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

    private func superEncoding() -> BSONEncoding {
        let position = Int32(truncatingIfNeeded: count)
        return BSONEncoding(
            state: state,
            place: state.nested { try state.slot(place, state.beginNext(place), key: nil, position: position) })
    }
}

extension EncoderState {
    /// Takes back an element of an array that failed, so that the next one has its position.
    func drop(_ place: Place, _ begun: Begun) {
        if buffer.count > begun.typeAt { buffer.truncate(to: begun.typeAt) }
        if isAlive(place) { frames[Int(place.index)].count -= 1 }
    }
}
