/// The container of a document's fields.
struct BSONKeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let state: DecoderState
    let place: DecoderState.Place

    var codingPath: [any CodingKey] { state.path(place) }

    var allKeys: [Key] {
        guard let value = try? state.value(place) else { return [] }
        var keys: [Key] = []
        var offset = value.start + 4
        while let element = state.bytes.element(at: offset, end: value.end - 1) {
            let name = element.key(in: state.bytes)
            if let key = Key(stringValue: name) {
                keys.append(key)
            } else if name == "_id", place.index == 0, state.options.idMapping == .automatic,
                let key = Key(stringValue: "id")
            {
                keys.append(key)
            }
            offset = element.valueEnd
        }
        return keys
    }

    func contains(_ key: Key) -> Bool { (try? state.find(place, key)) != nil }

    @inline(__always)
    private func value(_ key: Key) throws -> DecoderState.Value {
        guard let value = try state.find(place, key) else {
            throw DecodingError.keyNotFound(
                key, .init(codingPath: codingPath, debugDescription: "there is no field \"\(key.stringValue)\""))
        }
        return value
    }

    /// The value of a field that may be missing or null.
    @inline(__always)
    private func valueIfPresent(_ key: Key) throws -> DecoderState.Value? {
        guard let value = try state.find(place, key), value.type != .null else { return nil }
        return value
    }

    func decodeNil(forKey key: Key) throws -> Bool { try value(key).type == .null }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
        try state.bool(value(key)) { codingPath + [key] }
    }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        try valueIfPresent(key).map { try state.bool($0) { codingPath + [key] } }
    }

    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        try state.string(value(key)) { codingPath + [key] }
    }

    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        try valueIfPresent(key).map { try state.string($0) { codingPath + [key] } }
    }

    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        try state.double(value(key)) { codingPath + [key] }
    }

    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        try valueIfPresent(key).map { try state.double($0) { codingPath + [key] } }
    }

    func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
        try state.float(value(key)) { codingPath + [key] }
    }

    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
        try valueIfPresent(key).map { try state.float($0) { codingPath + [key] } }
    }

    func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
        try state.integer(value(key), as: Int.self) { codingPath + [key] }
    }

    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        try valueIfPresent(key).map { try state.integer($0, as: Int.self) { codingPath + [key] } }
    }

    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
        try state.integer(value(key), as: Int8.self) { codingPath + [key] }
    }

    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
        try valueIfPresent(key).map { try state.integer($0, as: Int8.self) { codingPath + [key] } }
    }

    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
        try state.integer(value(key), as: Int16.self) { codingPath + [key] }
    }

    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
        try valueIfPresent(key).map { try state.integer($0, as: Int16.self) { codingPath + [key] } }
    }

    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
        try state.integer(value(key), as: Int32.self) { codingPath + [key] }
    }

    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
        try valueIfPresent(key).map { try state.integer($0, as: Int32.self) { codingPath + [key] } }
    }

    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
        try state.integer(value(key), as: Int64.self) { codingPath + [key] }
    }

    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
        try valueIfPresent(key).map { try state.integer($0, as: Int64.self) { codingPath + [key] } }
    }

    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt {
        try state.integer(value(key), as: UInt.self) { codingPath + [key] }
    }

    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
        try valueIfPresent(key).map { try state.integer($0, as: UInt.self) { codingPath + [key] } }
    }

    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
        try state.integer(value(key), as: UInt8.self) { codingPath + [key] }
    }

    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
        try valueIfPresent(key).map { try state.integer($0, as: UInt8.self) { codingPath + [key] } }
    }

    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
        try state.integer(value(key), as: UInt16.self) { codingPath + [key] }
    }

    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
        try valueIfPresent(key).map { try state.integer($0, as: UInt16.self) { codingPath + [key] } }
    }

    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
        try state.integer(value(key), as: UInt32.self) { codingPath + [key] }
    }

    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
        try valueIfPresent(key).map { try state.integer($0, as: UInt32.self) { codingPath + [key] } }
    }

    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
        try state.integer(value(key), as: UInt64.self) { codingPath + [key] }
    }

    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
        try valueIfPresent(key).map { try state.integer($0, as: UInt64.self) { codingPath + [key] } }
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try state.decode(type, value(key), parent: place.index, key: key)
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        guard let value = try valueIfPresent(key) else { return nil }
        return try state.decode(type, value, parent: place.index, key: key)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try nested(value(key), key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try nested(value(key), key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        let key = BSONCodingKey.superclass
        return try nested(state.find(place, key) ?? DecoderState.missing, key)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        try nested(state.find(place, key) ?? DecoderState.missing, key)
    }

    private func nested(_ value: DecoderState.Value, _ key: some CodingKey) -> BSONDecoding {
        BSONDecoding(state: state, place: state.push(value, parent: place.index, key: key))
    }
}

extension DecoderState {
    /// What a superclass finds that nobody encoded: null.
    static let missing = Value(type: .null, start: 0, end: 0)
}
