/// Makes up values of Decodable types, each property another value, to find out where properties are stored.
///
/// One probe makes one value; its seed decides which.
final class Probe {
    /// How often a type may be inside itself: enough to tell its properties apart, few enough to come to an end.
    private static let deepestNesting = 2

    /// Whether values on the edge come too: empty, zero, negative. They tell a computed property from the stored one
    /// that it mostly equals; but a type's own `init(from:)` may not be made for them.
    let isWide: Bool
    private var state: UInt64
    private var nesting: [ObjectIdentifier: Int] = [:]
    private var depth = 0

    /// The keys that the value itself asked for; `nil` once it asked which there are.
    private(set) var keysRead: Set<String>? = []

    init(seed: UInt64, isWide: Bool) {
        self.isWide = isWide
        state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 0x1234_5678
    }

    /// Makes a value of a type.
    ///
    /// - Throws: What the type's `init(from:)` throws; `ProbeFailure` where nothing can be made up.
    func make<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if let value = simple(type) as? Value { return value }
        if let cases = type as? any CaseIterable.Type, let value = oneCase(of: cases) as? Value { return value }
        let id = ObjectIdentifier(type)
        guard nesting[id, default: 0] < Self.deepestNesting else { throw ProbeFailure.nestsTooDeep(type) }
        nesting[id, default: 0] += 1
        depth += 1
        defer {
            nesting[id, default: 1] -= 1
            depth -= 1
        }
        do {
            return try Value(from: ProbeDecoder(probe: self))
        } catch {
            if let type = type as? any EmptyMakable.Type, let value = type.init() as? Value { return value }
            // An enum knows its raw values, and nobody else does.
            guard type is any RawRepresentable.Type, let value = ByteCases.one(of: type, second: flip()) else {
                throw error
            }
            return value
        }
    }

    /// Notes that a key is read; `id` is the `_id`, as the decoder has it.
    func note<Key: CodingKey>(_ key: Key) {
        guard depth == 1 else { return }
        let isID = key.stringValue == "id" && Key(stringValue: "_id") == nil
        keysRead?.insert(isID ? "_id" : key.stringValue)
    }

    /// Notes that all keys are asked for.
    func noteAllKeys() {
        if depth == 1 { keysRead = nil }
    }

    /// A key of a type of keys: of a dictionary any, of an enum with payloads the name of one of two cases.
    func key<Key: CodingKey>(_ type: Key.Type) -> Key? {
        if let key = Key(stringValue: word()) { return key }
        // A type without cases has no size either, so it is never made up.
        guard MemoryLayout<Key>.size == 1, let key = ByteCases.one(of: type, second: flip()) else { return nil }
        return Key(stringValue: key.stringValue)
    }

    /// Whether an optional is nil this time, one of four.
    func isNil() -> Bool { next() % 4 == 0 }

    /// How many elements an array has this time.
    func count() -> Int { Int(next() % 3) }

    func flip() -> Bool { next() % 2 == 0 }

    private func oneCase<Cases: CaseIterable>(of type: Cases.Type) -> Any? {
        var generator = self
        return type.allCases.randomElement(using: &generator)
    }
}

extension Probe: RandomNumberGenerator {
    // SplitMix64: the same values in every run.
    func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

/// What may be empty where its elements cannot be made up, such as the children of a node among its children.
private protocol EmptyMakable {
    init()
}

extension Array: EmptyMakable {}
extension Set: EmptyMakable {}
extension Dictionary: EmptyMakable {}

/// Why a value could not be made up.
enum ProbeFailure: Error, CustomStringConvertible {
    case nestsTooDeep(any Any.Type)
    case noElement

    var description: String {
        switch self {
        case .nestsTooDeep(let type): "\(type) is always inside another \(type)"
        case .noElement: "there is no further element"
        }
    }
}
