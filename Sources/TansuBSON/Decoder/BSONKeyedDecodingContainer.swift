/// The container of a document's fields.
struct BSONKeyedDecodingContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let state: DecoderState
    let handle: DecoderState.Handle

    var codingPath: [any CodingKey] { state.path(handle) }

    var allKeys: [Key] {
        guard let value = try? state.value(handle) else { return [] }
        var keys: [Key] = []
        var offset = value.start + 4
        while let element = state.bytes.element(at: offset, end: value.end - 1) {
            let name = element.key(in: state.bytes)
            if let key = Key(stringValue: name) {
                keys.append(key)
            } else if name == "_id", state.options.idMapping == .automatic,
                let key = Key(stringValue: "id")
            {
                keys.append(key)
            }
            offset = element.valueEnd
        }
        return keys
    }

    func contains(_ key: Key) -> Bool { (try? state.find(handle, key)) != nil }

    @inline(__always)
    private func value(_ key: Key) throws -> DecoderState.Value {
        guard let value = try state.find(handle, key) else { throw missing(key) }
        return value
    }

    @inline(never)
    private func missing(_ key: Key) -> DecodingError {
        .keyNotFound(
            key, .init(codingPath: codingPath, debugDescription: "Field \"\(key.stringValue)\" does not exist"))
    }

    /// The value of a field that may be missing or null.
    @inline(__always)
    private func valueIfPresent(_ key: Key) throws -> DecoderState.Value? {
        guard let value = try state.find(handle, key), !value.isOf(.null) else { return nil }
        return value
    }

    @inline(__always)
    private func read<T>(
        _ key: Key, _ read: (DecoderState.Value) throws(ReadFailure) -> T
    ) throws -> T {
        let value = try value(key)
        do {
            return try read(value)
        } catch {
            throw state.failure(error, value, codingPath + [key])
        }
    }

    @inline(__always)
    private func readIfPresent<T>(
        _ key: Key, _ read: (DecoderState.Value) throws(ReadFailure) -> T
    ) throws -> T? {
        guard let value = try valueIfPresent(key) else { return nil }
        do {
            return try read(value)
        } catch {
            throw state.failure(error, value, codingPath + [key])
        }
    }

    @inline(__always)
    private func integer<I: FixedWidthInteger>(_ key: Key, _ type: I.Type) throws -> I {
        try read(key) { value throws(ReadFailure) in try state.integer(value, as: type) }
    }

    @inline(__always)
    private func integerIfPresent<I: FixedWidthInteger>(_ key: Key, _ type: I.Type) throws -> I? {
        try readIfPresent(key) { value throws(ReadFailure) in try state.integer(value, as: type) }
    }

    func decodeNil(forKey key: Key) throws -> Bool { try value(key).isOf(.null) }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try read(key, state.bool) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try read(key, state.string) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try read(key, state.double) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try read(key, state.float) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try integer(key, type) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try integer(key, type) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try integer(key, type) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try integer(key, type) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try integer(key, type) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try integer(key, type) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try integer(key, type) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try integer(key, type) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try integer(key, type) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try integer(key, type) }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try integer(key, type) }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try integer(key, type) }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try state.decode(type, value(key), handle, key: key)
    }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try readIfPresent(key, state.bool) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        try readIfPresent(key, state.string)
    }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        try readIfPresent(key, state.double)
    }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try readIfPresent(key, state.float) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try integerIfPresent(key, type) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try integerIfPresent(key, type) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try integerIfPresent(key, type) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try integerIfPresent(key, type) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try integerIfPresent(key, type) }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try integerIfPresent(key, type) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try integerIfPresent(key, type) }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try integerIfPresent(key, type) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try integerIfPresent(key, type) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try integerIfPresent(key, type) }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? { try integerIfPresent(key, type) }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? { try integerIfPresent(key, type) }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        guard let value = try valueIfPresent(key) else { return nil }
        return try state.decode(type, value, handle, key: key)
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
        return try nested(state.find(handle, key) ?? DecoderState.missing, key)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        try nested(state.find(handle, key) ?? DecoderState.missing, key)
    }

    private func nested(_ value: DecoderState.Value, _ key: some CodingKey) -> BSONValueDecoder {
        BSONValueDecoder(state: state, handle: state.push(value, parent: handle.index, key: key))
    }
}

extension DecoderState {
    /// The value for a superclass that was not encoded: null.
    static let missing = Value(code: BSONType.null.rawValue, start: 0, end: 0)
}
