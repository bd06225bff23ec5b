#if TansuSync
import TansuBSON
import TansuTestSupport

/// Random JSON values of a small world, so that many of them are equal or near.
enum RandomValues {
    static let texts = [
        "", "a", "A", "b", "ab", "á", "co-op", "coop", "10", "9", "ß", "ss", "é", "e\u{301}", "z\u{0}",
    ]
    static let keys = ["a", "b", "c", "x", "y"]

    static func value(depth: Int, using random: inout SeededGenerator) -> BSONValue {
        switch Int.random(in: 0..<(depth > 0 ? 12 : 9), using: &random) {
        case 0: return .null
        case 1: return .bool(.random(using: &random))
        case 2...3: return .int32(.random(in: -2...4, using: &random))
        case 4: return .double(Double(Int.random(in: -4...8, using: &random)) / 2)
        case 5...8: return .string(texts.randomElement(using: &random) ?? "")
        case 9...10: return .array(BSONArray(list(depth: depth - 1, using: &random)))
        default: return .document(document(depth: depth - 1, using: &random))
        }
    }

    static func list(depth: Int, using random: inout SeededGenerator) -> [BSONValue] {
        (0..<Int.random(in: 0...3, using: &random)).map { _ in value(depth: depth, using: &random) }
    }

    static func document(depth: Int, using random: inout SeededGenerator) -> BSONDocument {
        let count = Int.random(in: 0...3, using: &random)
        return BSONDocument(
            keys.shuffled(using: &random).prefix(count).map { ($0, value(depth: depth, using: &random)) })
    }
}
#endif
