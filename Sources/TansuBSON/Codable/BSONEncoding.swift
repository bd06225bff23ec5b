/// The encoder that values see: a handle on the place where they go.
struct BSONEncoding: Encoder {
    let state: EncoderState
    let place: EncoderState.Place

    var codingPath: [any CodingKey] { state.path(place) }
    var userInfo: [CodingUserInfoKey: Any] { state.options.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        state.open(place, as: .keyed)
        return KeyedEncodingContainer(BSONKeyedEncoding<Key>(state: state, place: place))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        state.open(place, as: .unkeyed)
        return BSONUnkeyedEncoding(state: state, place: place)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        BSONSingleEncoding(state: state, place: place)
    }
}

/// The container of a single value.
struct BSONSingleEncoding: SingleValueEncodingContainer {
    let state: EncoderState
    let place: EncoderState.Place

    var codingPath: [any CodingKey] { state.path(place) }

    mutating func encodeNil() throws { try state.fill(place) { .null } }
    mutating func encode(_ value: Bool) throws { try state.fill(place) { state.write(value) } }
    mutating func encode(_ value: String) throws { try state.fill(place) { state.write(value) } }
    mutating func encode(_ value: Double) throws { try state.fill(place) { state.write(value) } }
    mutating func encode(_ value: Float) throws { try state.fill(place) { state.write(Double(value)) } }
    mutating func encode(_ value: Int) throws { try state.fill(place) { state.write(value) } }
    mutating func encode(_ value: Int8) throws { try state.fill(place) { state.write(Int32(value)) } }
    mutating func encode(_ value: Int16) throws { try state.fill(place) { state.write(Int32(value)) } }
    mutating func encode(_ value: Int32) throws { try state.fill(place) { state.write(value) } }
    mutating func encode(_ value: Int64) throws { try state.fill(place) { state.write(value) } }
    mutating func encode(_ value: UInt8) throws { try state.fill(place) { state.write(Int32(value)) } }
    mutating func encode(_ value: UInt16) throws { try state.fill(place) { state.write(Int32(value)) } }
    mutating func encode(_ value: UInt32) throws { try state.fill(place) { state.write(Int(value)) } }
    mutating func encode(_ value: UInt) throws { try encode(wide: value, as: .int32) }
    mutating func encode(_ value: UInt64) throws { try encode(wide: value, as: .int64) }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    mutating func encode(_ value: Int128) throws { try encode(wide: value, as: .int64) }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    mutating func encode(_ value: UInt128) throws { try encode(wide: value, as: .int64) }

    private func encode<I: FixedWidthInteger>(wide value: I, as type: BSONType) throws {
        try state.fill(place) { try written(value) { () throws(Unwritable) in try state.write(wide: value, as: type) } }
    }

    mutating func encode<T: Encodable>(_ value: T) throws {
        let kind = state.kind(T.self)
        switch kind {
        case .foreign:
            // Without this a second value with keys would add its fields to those of the first.
            try state.checkEmpty(place)
            try value.encode(to: BSONEncoding(state: state, place: place))
        case .direct:
            try state.fillDirect(place, value)
        default:
            try state.fill(place) {
                try written(value) { () throws(Unwritable) in try state.writeNative(value, kind) }
            }
        }
    }

    private func written(_ value: Any, _ write: () throws(Unwritable) -> BSONType) throws -> BSONType {
        do { return try write() } catch { throw state.failure(error, value, codingPath) }
    }
}
