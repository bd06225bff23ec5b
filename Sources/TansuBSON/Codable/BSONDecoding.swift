/// The decoder that values see: a handle on the value that they read.
struct BSONDecoding: Decoder {
    let state: DecoderState
    let place: DecoderState.Place

    var codingPath: [any CodingKey] { state.path(place) }
    var userInfo: [CodingUserInfoKey: Any] { state.options.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        _ = try state.open(place, as: .document)
        return KeyedDecodingContainer(BSONKeyedDecoding<Key>(state: state, place: place))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let value = try state.open(place, as: .array)
        return BSONUnkeyedDecoding(state: state, place: place, offset: Int32(value.start + 4))
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        try state.check(place)
        return BSONSingleDecoding(state: state, place: place)
    }
}
