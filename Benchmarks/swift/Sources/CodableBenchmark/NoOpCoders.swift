/// An encoder that does nothing. It measures the time of the standard library and of the generated code, which is the
/// lower bound of every encoder.
struct NoOpEncoder: Encoder {
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }
    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(Fields<Key>())
    }
    func unkeyedContainer() -> any UnkeyedEncodingContainer { preconditionFailure("only fields are measured") }
    func singleValueContainer() -> any SingleValueEncodingContainer {
        preconditionFailure("only fields are measured")
    }

    struct Fields<Key: CodingKey>: KeyedEncodingContainerProtocol {
        var codingPath: [any CodingKey] { [] }
        func encodeNil(forKey key: Key) throws {}
        func encode(_ value: Bool, forKey key: Key) throws {}
        func encode(_ value: String, forKey key: Key) throws {}
        func encode(_ value: Double, forKey key: Key) throws {}
        func encode(_ value: Int, forKey key: Key) throws {}
        func encode(_ value: Int64, forKey key: Key) throws {}
        func encode<T: Encodable>(_ value: T, forKey key: Key) throws {}
        func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type, forKey key: Key
        ) -> KeyedEncodingContainer<Nested> { KeyedEncodingContainer(Fields<Nested>()) }
        func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
            NoOpEncoder().unkeyedContainer()
        }
        func superEncoder() -> any Encoder { NoOpEncoder() }
        func superEncoder(forKey key: Key) -> any Encoder { NoOpEncoder() }
    }
}

/// A decoder that does nothing, the lower bound of every decoder.
struct NoOpDecoder: Decoder {
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }
    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(Fields<Key>())
    }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Unmeasured() }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw Unmeasured() }

    struct Unmeasured: Error {}

    struct Fields<Key: CodingKey>: KeyedDecodingContainerProtocol {
        var codingPath: [any CodingKey] { [] }
        var allKeys: [Key] { [] }
        func contains(_ key: Key) -> Bool { true }
        func decodeNil(forKey key: Key) throws -> Bool { false }
        func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { true }
        func decode(_ type: String.Type, forKey key: Key) throws -> String { "" }
        func decode(_ type: Double.Type, forKey key: Key) throws -> Double { 0 }
        func decode(_ type: Int.Type, forKey key: Key) throws -> Int { 0 }
        func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { 0 }
        func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { throw Unmeasured() }
        func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type, forKey key: Key
        ) throws -> KeyedDecodingContainer<Nested> { throw Unmeasured() }
        func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw Unmeasured() }
        func superDecoder() throws -> any Decoder { throw Unmeasured() }
        func superDecoder(forKey key: Key) throws -> any Decoder { throw Unmeasured() }
    }
}
