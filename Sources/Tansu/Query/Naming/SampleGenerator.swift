/// Makes up values of Decodable types, each property another value, to find out where properties are stored.
///
/// One generator makes one value; its seed decides which.
final class SampleGenerator {
    /// How deep a type may be nested in itself.
    private static let deepestNesting = 2

    /// Whether to include edge values: empty, zero, negative. They distinguish a computed property from a stored one
    /// that it mostly equals; but a custom `init(from:)` may reject them.
    let isWide: Bool
    private var state: UInt64
    private var nesting: [ObjectIdentifier: Int] = [:]
    private var depth = 0

    /// The keys that the value itself decoded; `nil` once it read the list of all keys.
    private(set) var keysRead: Set<String>? = []

    init(seed: UInt64, isWide: Bool) {
        self.isWide = isWide
        state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 0x1234_5678
    }

    /// Generates a value of a type.
    ///
    /// - Throws: What the type's `init(from:)` throws; `SampleError` where none can be generated.
    func make<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if let value = simple(type) as? Value { return value }
        if let cases = type as? any CaseIterable.Type, let value = oneCase(of: cases) as? Value { return value }
        let id = ObjectIdentifier(type)
        guard nesting[id, default: 0] < Self.deepestNesting else { throw SampleError.nestsTooDeep(type) }
        nesting[id, default: 0] += 1
        depth += 1
        defer {
            nesting[id, default: 1] -= 1
            depth -= 1
        }
        do {
            return try Value(from: SampleDecoder(generator: self))
        } catch {
            if let type = type as? any EmptyInitializable.Type, let value = type.init() as? Value { return value }
            // Only the enum itself knows its raw values.
            guard type is any RawRepresentable.Type, let value = ByteCases.one(of: type, second: flip()) else {
                throw error
            }
            return value
        }
    }

    /// Notes that a key is read; `id` is `_id`, as in the decoder.
    func note<Key: CodingKey>(_ key: Key) {
        guard depth == 1 else { return }
        let isID = key.stringValue == "id" && Key(stringValue: "_id") == nil
        keysRead?.insert(isID ? "_id" : key.stringValue)
    }

    /// Notes that the list of all keys is read.
    func noteAllKeys() {
        if depth == 1 { keysRead = nil }
    }

    /// A key: any for a dictionary, the name of one of two cases for an enum with payloads.
    func key<Key: CodingKey>(_ type: Key.Type) -> Key? {
        if let key = Key(stringValue: word()) { return key }
        // A type without cases has size 0, and is never generated.
        guard MemoryLayout<Key>.size == 1, let key = ByteCases.one(of: type, second: flip()) else { return nil }
        return Key(stringValue: key.stringValue)
    }

    /// Whether an optional is nil this time, with probability 1/4.
    func isNil() -> Bool { next() % 4 == 0 }

    /// How many elements an array has this time.
    func count() -> Int { Int(next() % 3) }

    func flip() -> Bool { next() % 2 == 0 }

    private func oneCase<Cases: CaseIterable>(of type: Cases.Type) -> Any? {
        var generator = self
        return type.allCases.randomElement(using: &generator)
    }
}

extension SampleGenerator: RandomNumberGenerator {
    // SplitMix64: the same values in every run.
    func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

/// A collection that may be empty when its elements cannot be generated, such as the children of a recursive node.
private protocol EmptyInitializable {
    init()
}

extension Array: EmptyInitializable {}
extension Set: EmptyInitializable {}
extension Dictionary: EmptyInitializable {}

/// Why a value could not be generated.
enum SampleError: Error, CustomStringConvertible {
    case nestsTooDeep(any Any.Type)
    case noElement

    var description: String {
        switch self {
        case .nestsTooDeep(let type): "\"\(type)\" always contains another \"\(type)\""
        case .noElement: "there is no further element"
        }
    }
}
