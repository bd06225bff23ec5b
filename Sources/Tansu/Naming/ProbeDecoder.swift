/// Hands out made-up values instead of stored ones.
///
/// Codable's many concrete `decode` requirements are all met by the generic one.
struct ProbeDecoder: Decoder {
    let probe: Probe

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(ProbeFields<Key>(probe: probe))
    }

    func unkeyedContainer() -> any UnkeyedDecodingContainer {
        ProbeElements(probe: probe, count: probe.count())
    }

    func singleValueContainer() -> any SingleValueDecodingContainer {
        ProbeSingle(probe: probe)
    }
}

/// Has every field that is asked for.
private struct ProbeFields<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let probe: Probe

    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] {
        probe.noteAllKeys()
        return probe.key(Key.self).map { [$0] } ?? []
    }

    func contains(_ key: Key) -> Bool {
        probe.note(key)
        return true
    }

    func decodeNil(forKey key: Key) -> Bool {
        probe.note(key)
        return probe.isNil()
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        probe.note(key)
        return try probe.make(type)
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) -> Value? {
        // What cannot be made up may be missing; the properties beside it are still found.
        probe.note(key)
        return probe.isNil() ? nil : try? probe.make(type)
    }

    func nestedContainer<Inner: CodingKey>(
        keyedBy type: Inner.Type, forKey key: Key
    ) -> KeyedDecodingContainer<Inner> {
        probe.note(key)
        return ProbeDecoder(probe: probe).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer {
        probe.note(key)
        return ProbeDecoder(probe: probe).unkeyedContainer()
    }

    func superDecoder() -> any Decoder {
        // What the superclass reads is inside this, or beside it: both are names that may be there.
        probe.note(SuperclassKey())
        return ProbeDecoder(probe: probe)
    }

    func superDecoder(forKey key: Key) -> any Decoder {
        probe.note(key)
        return ProbeDecoder(probe: probe)
    }
}

/// Where a superclass is stored that asks for a place of its own.
private struct SuperclassKey: CodingKey {
    let stringValue = "super"
    var intValue: Int? { nil }

    init() {}
    init?(stringValue: String) { nil }
    init?(intValue: Int) { nil }
}

/// Has a few elements, or none.
private struct ProbeElements: UnkeyedDecodingContainer {
    let probe: Probe
    var left: Int
    var currentIndex = 0

    init(probe: Probe, count: Int) {
        self.probe = probe
        left = count
    }

    var codingPath: [any CodingKey] { [] }
    var count: Int? { currentIndex + left }
    var isAtEnd: Bool { left == 0 }

    mutating func decodeNil() throws -> Bool {
        try !isAtEnd && probe.isNil() && step()
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        _ = try step()
        return try probe.make(type)
    }

    mutating func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        _ = try step()
        return ProbeDecoder(probe: probe).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        _ = try step()
        return ProbeDecoder(probe: probe).unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Decoder {
        _ = try step()
        return ProbeDecoder(probe: probe)
    }

    private mutating func step() throws -> Bool {
        guard !isAtEnd else { throw ProbeFailure.noElement }
        left -= 1
        currentIndex += 1
        return true
    }
}

/// Has one value of any type.
private struct ProbeSingle: SingleValueDecodingContainer {
    let probe: Probe

    var codingPath: [any CodingKey] { [] }
    func decodeNil() -> Bool { probe.isNil() }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try probe.make(type) }
}
