/// The `Encoder` that the `encode(to:)` of a value gets: a handle of the frame of the value.
struct BSONValueEncoder: Encoder {
    let state: EncoderState
    let handle: EncoderState.Handle

    var codingPath: [any CodingKey] { state.path(handle) }
    var userInfo: [CodingUserInfoKey: Any] { state.options.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        state.open(handle, as: .keyed)
        return KeyedEncodingContainer(BSONKeyedEncodingContainer<Key>(state: state, handle: handle))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        state.open(handle, as: .unkeyed)
        return BSONUnkeyedEncodingContainer(state: state, handle: handle)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        BSONSingleValueEncodingContainer(state: state, handle: handle)
    }
}
