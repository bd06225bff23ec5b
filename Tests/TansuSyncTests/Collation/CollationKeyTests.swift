#if TansuSync
import TansuBSON
import TansuTestSupport
import Testing

@testable import TansuSync

/// Sort keys against the collation that compares values.
@Suite("Collation: sort keys")
struct CollationKeyTests {
    private let collation: Collation

    init() throws { collation = try Collation.shared() }

    private func key(_ value: BSONValue) throws -> [UInt8] {
        var key: [UInt8] = []
        try collation.appendKey(of: value, to: &key)
        return key
    }

    private func order(_ a: [UInt8], _ b: [UInt8]) -> Collation.Order {
        a == b ? .same : (a.lexicographicallyPrecedes(b) ? .before : .after)
    }

    @Test("Keys of CouchDB's classes of values have their order, and are equal inside of a class")
    func oracle() throws {
        let document = try Vectors.document("collation-oracle.json")
        let classes = (document["classes"]?.elements ?? []).map(\.elements)
        let keys = try classes.map { try $0.map { try key($0) } }
        #expect(keys.count == 306)
        for (i, first) in keys.enumerated() {
            for (j, second) in keys.enumerated() {
                for a in first {
                    for b in second {
                        #expect(order(a, b) == Collation.Order(i, j), "\(classes[i]), \(classes[j])")
                    }
                }
            }
        }
    }

    @Test("Keys of random values have the order of the values, and none is the beginning of another")
    func random() throws {
        let seed = SeededGenerator.seed()
        var random = SeededGenerator(seed: seed)
        let values = (0..<400).map { _ in RandomValues.value(depth: 3, using: &random) }
        let keys = try values.map(key)
        for (a, x) in zip(values, keys) {
            for (b, y) in zip(values, keys) {
                let expected = try collation.order(a, b)
                #expect(order(x, y) == expected, "seed \(seed): \(a) and \(b)")
                #expect(x == y || !y.starts(with: x), "seed \(seed): \(a) and \(b)")
            }
        }
    }

    @Test("Keys of numbers of every type have the order of their exact values")
    func numbers() throws {
        let seed = SeededGenerator.seed()
        var random = SeededGenerator(seed: seed)
        var values: [BSONValue] = [
            .double(0), .double(-0.0), .int32(0), .double(.leastNonzeroMagnitude), .double(-.leastNonzeroMagnitude),
            .double(.greatestFiniteMagnitude), .double(-.greatestFiniteMagnitude), .int64(.max), .int64(.min),
        ]
        for text in ["1E6144", "-1E6144", "1E-6176", "-1E-6176", "0.1", "9007199254740993", "1E+10", "10000000000"] {
            values.append(.decimal128(try #require(Decimal128(text))))
        }
        for _ in 0..<50 {
            let whole = Int64.random(in: .min ... .max, using: &random) >> Int64.random(in: 0...63, using: &random)
            values += [
                .int64(whole), .double(Double(whole)), .double(Double(whole) / 8), .decimal128(Decimal128(whole)),
            ]
        }
        let keys = try values.map(key)
        for (a, x) in zip(values, keys) {
            for (b, y) in zip(values, keys) {
                let expected = try collation.order(a, b)
                #expect(order(x, y) == expected, "seed \(seed): \(a) and \(b)")
                #expect(x == y || !y.starts(with: x), "seed \(seed): \(a) and \(b)")
            }
        }
    }

    @Test("Texts of all scripts and lengths: the key is whole, and ends with its only zero")
    func texts() throws {
        let seed = SeededGenerator.seed()
        var random = SeededGenerator(seed: seed)
        for length in [0, 1, 2, 10, 100, 511, 512, 513, 5000, 100_000] {
            let text = String(
                String.UnicodeScalarView(
                    (0..<length).compactMap { _ in Unicode.Scalar(UInt32.random(in: 1..<0x2FFFF, using: &random)) })
            )
            var bytes = try key(.string(text))
            #expect(bytes.removeLast() == 0 && !bytes.contains(0), "seed \(seed), length \(length)")
            let longer = try key(.string(text + "a"))
            #expect(try order(key(.string(text)), longer) == collation.order(text, text + "a"), "seed \(seed)")
        }
    }

    @Test("Keys of ids have the order of their bytes")
    func ids() throws {
        let texts = [
            "", "\u{0}", "\u{0}\u{0}", "\u{0}a", "\u{1}", "A", "a", "a\u{0}", "a\u{0}b", "a\u{1}", "aa", "é", "😀",
        ]
        let keys = texts.map { text in
            var key: [UInt8] = []
            TermOrder.appendKey(of: text, to: &key)
            return key
        }
        for (a, x) in zip(texts, keys) {
            for (b, y) in zip(texts, keys) {
                #expect(order(x, y) == TermOrder.order(a, b), "\(a.debugDescription) and \(b.debugDescription)")
                #expect(x == y || !y.starts(with: x))
            }
        }
    }
}
#endif
