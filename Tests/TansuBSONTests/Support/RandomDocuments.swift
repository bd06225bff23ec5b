import Foundation
import TansuBSON

/// A random number generator with a seed, for reproducible tests.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// A generator with a random seed, which it prints. The environment variable `TANSU_SEED` repeats a run.
    static func fresh(_ test: String = #function) -> SeededGenerator {
        let given = ProcessInfo.processInfo.environment["TANSU_SEED"].flatMap { UInt64($0) }
        let seed = given ?? .random(in: 1...999_999_999)
        print("\(test): TANSU_SEED=\(seed)")
        return SeededGenerator(seed: seed)
    }

    // SplitMix64.
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

extension SeededGenerator {
    mutating func text() -> String {
        let alphabet = Array("abc xyz09éß日本語🎉\n\"\\\t/<>$.")
        return String(
            (0..<Int.random(in: 0...12, using: &self)).compactMap { _ in alphabet.randomElement(using: &self) })
    }

    mutating func double() -> Double {
        Bool.random(using: &self)
            ? Double.random(in: -1e6...1e6, using: &self)
            : [0.0, -0.0, 1.5, 1e300, -1e-300, .infinity, -.infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude]
                .randomElement(using: &self) ?? 0
    }

    mutating func bytes(upTo count: Int) -> [UInt8] {
        (0..<Int.random(in: 0...count, using: &self)).map { _ in UInt8.random(in: 0...255, using: &self) }
    }

    mutating func objectID() -> ObjectID {
        ObjectID(bytes: (0..<12).map { _ in UInt8.random(in: 0...255, using: &self) }) ?? ObjectID()
    }

    /// A random value of the kinds that extended JSON preserves exactly.
    mutating func value(depth: Int = 0) -> BSONValue {
        switch Int.random(in: 0...(depth < 4 ? 21 : 19), using: &self) {
        case 0: return .double(double())
        case 1: return .string(text())
        case 2:
            return .binary(
                BSONBinary(
                    bytes(upTo: 9), subtype: .init(rawValue: [0, 1, 2, 4, 0x80].randomElement(using: &self) ?? 0)))
        case 3: return .undefined
        case 4: return .objectID(objectID())
        case 5: return .bool(.random(using: &self))
        case 6: return .date(Int64.random(in: -1 << 50...1 << 50, using: &self))
        case 7: return .null
        case 8: return .regularExpression(BSONRegularExpression(text(), options: "ims"))
        case 9: return .dbPointer(BSONDBPointer(collection: text(), id: objectID()))
        case 10: return .code(text())
        case 11: return .symbol(BSONSymbol(text()))
        case 12: return .codeWithScope(BSONCode(text(), scope: document(depth: depth + 1)))
        case 13: return .int32(.random(in: .min ... .max, using: &self))
        case 14: return .int64(.random(in: .min ... .max, using: &self))
        case 15: return .timestamp(BSONTimestamp(seconds: .random(in: 0 ... .max, using: &self), increment: 7))
        case 16:
            let digits = Int64.random(in: .min ... .max, using: &self)
            return .decimal128(Decimal128("\(digits)E\(Int.random(in: -6000...6000, using: &self))") ?? .nan)
        case 17: return .minKey
        case 18: return .maxKey
        case 19: return .int32(.random(in: -3...3, using: &self))
        case 20:
            return .array(BSONArray((0..<Int.random(in: 0...12, using: &self)).map { _ in value(depth: depth + 1) }))
        default: return .document(document(depth: depth + 1))
        }
    }

    mutating func document(depth: Int = 0) -> BSONDocument {
        var document = BSONDocument()
        // Keys that begin with a dollar sign could look like wrappers of extended JSON.
        for index in 0..<Int.random(in: 0...8, using: &self) { document["k\(index)" + text()] = value(depth: depth) }
        return document
    }
}
