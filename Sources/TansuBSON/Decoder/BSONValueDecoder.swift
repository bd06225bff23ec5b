/// The `Decoder` that the `init(from:)` of a value gets: a handle of the frame of the value.
struct BSONValueDecoder: Decoder {
    let state: DecoderState
    let handle: DecoderState.Handle

    var codingPath: [any CodingKey] { state.path(handle) }
    var userInfo: [CodingUserInfoKey: Any] { state.options.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        _ = try state.open(handle, as: .document)
        return KeyedDecodingContainer(BSONKeyedDecodingContainer<Key>(state: state, handle: handle))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let value = try state.open(handle, as: .array)
        return BSONUnkeyedDecodingContainer(state: state, handle: handle, offset: Int32(value.start + 4))
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        try state.check(handle)
        return BSONSingleValueDecodingContainer(state: state, handle: handle)
    }
}
