/// Decodes sample values instead of stored ones.
///
/// The generic `decode` satisfies all of Codable's concrete requirements.
struct SampleDecoder: Decoder {
    let generator: SampleGenerator

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(SampleFields<Key>(generator: generator))
    }

    func unkeyedContainer() -> any UnkeyedDecodingContainer {
        SampleElements(generator: generator, count: generator.count())
    }

    func singleValueContainer() -> any SingleValueDecodingContainer {
        SampleSingle(generator: generator)
    }
}

/// Has every requested field.
private struct SampleFields<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let generator: SampleGenerator

    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] {
        generator.noteAllKeys()
        return generator.key(Key.self).map { [$0] } ?? []
    }

    func contains(_ key: Key) -> Bool {
        generator.note(key)
        return true
    }

    func decodeNil(forKey key: Key) -> Bool {
        generator.note(key)
        return generator.isNil()
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        generator.note(key)
        return try generator.make(type)
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) -> Value? {
        // A value that cannot be generated may be missing; the other properties are still found.
        generator.note(key)
        return generator.isNil() ? nil : try? generator.make(type)
    }

    func nestedContainer<Inner: CodingKey>(
        keyedBy type: Inner.Type, forKey key: Key
    ) -> KeyedDecodingContainer<Inner> {
        generator.note(key)
        return SampleDecoder(generator: generator).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer {
        generator.note(key)
        return SampleDecoder(generator: generator).unkeyedContainer()
    }

    func superDecoder() -> any Decoder {
        // A superclass may be stored inside this key or next to it: both are possible names.
        generator.note(SuperclassKey())
        return SampleDecoder(generator: generator)
    }

    func superDecoder(forKey key: Key) -> any Decoder {
        generator.note(key)
        return SampleDecoder(generator: generator)
    }
}

/// The key of a superclass with a container of its own.
private struct SuperclassKey: CodingKey {
    let stringValue = "super"
    var intValue: Int? { nil }

    init() {}
    init?(stringValue: String) { nil }
    init?(intValue: Int) { nil }
}

/// Has a few elements, or none.
private struct SampleElements: UnkeyedDecodingContainer {
    let generator: SampleGenerator
    var left: Int
    var currentIndex = 0

    init(generator: SampleGenerator, count: Int) {
        self.generator = generator
        left = count
    }

    var codingPath: [any CodingKey] { [] }
    var count: Int? { currentIndex + left }
    var isAtEnd: Bool { left == 0 }

    mutating func decodeNil() throws -> Bool {
        try !isAtEnd && generator.isNil() && step()
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        _ = try step()
        return try generator.make(type)
    }

    mutating func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        _ = try step()
        return SampleDecoder(generator: generator).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        _ = try step()
        return SampleDecoder(generator: generator).unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Decoder {
        _ = try step()
        return SampleDecoder(generator: generator)
    }

    private mutating func step() throws -> Bool {
        guard !isAtEnd else { throw SampleError.noElement }
        left -= 1
        currentIndex += 1
        return true
    }
}

/// Has one value of any type.
private struct SampleSingle: SingleValueDecodingContainer {
    let generator: SampleGenerator

    var codingPath: [any CodingKey] { [] }
    func decodeNil() -> Bool { generator.isNil() }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try generator.make(type) }
}
