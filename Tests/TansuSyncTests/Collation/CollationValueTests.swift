#if TansuSync
import Foundation
import TansuBSON
import TansuTestSupport
import Testing

@testable import TansuSync

@Suite("Collation: values of every type")
struct CollationValueTests {
    private let collation: Collation

    init() throws { collation = try Collation.shared() }

    @Test("Numbers of every type are compared by their exact values")
    func numbers() throws {
        let big = try #require(Decimal128("9007199254740993"))
        let tenth = try #require(Decimal128("0.1"))
        let huge = try #require(Decimal128("18446744073709551616"))
        let pairs: [(BSONValue, BSONValue, Collation.Order)] = [
            (.int32(1), .double(1), .same), (.int64(1), .decimal128(Decimal128(1)), .same),
            (.int64(9_007_199_254_740_993), .double(9_007_199_254_740_992), .after),
            (.int64(9_007_199_254_740_993), .decimal128(big), .same),
            (.decimal128(big), .double(9_007_199_254_740_992), .after),
            (.int64(.max), .double(0x1p63), .before), (.int64(.min), .double(-0x1p63), .same),
            (.decimal128(huge), .double(0x1p64), .same), (.int64(.max), .decimal128(huge), .before),
            // A double near 0.1 is above it.
            (.decimal128(tenth), .double(0.1), .before), (.double(-0.0), .int32(0), .same),
            (.double(-1.5), .int32(-1), .before), (.int32(-2), .double(-1.5), .before),
            (.double(.leastNonzeroMagnitude), .int32(0), .after),
            (.double(.leastNonzeroMagnitude), .decimal128(Decimal128(0)), .after),
        ]
        for (a, b, expected) in pairs {
            let order = try collation.order(a, b)
            let reversed = try collation.order(b, a)
            #expect(order == expected, "\(a) and \(b)")
            #expect(reversed == expected.reversed, "\(b) and \(a)")
        }
    }

    @Test("Random numbers have the order of their decimal digits")
    func randomNumbers() throws {
        let seed = SeededGenerator.seed()
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2000 {
            let whole =
                Int64.random(in: -(1 << 62)...(1 << 62), using: &random) >> Int64.random(in: 0...62, using: &random)
            let near: [BSONValue] = [
                .int64(whole), .double(Double(whole)), .double(Double(whole) + 0.5), .decimal128(Decimal128(whole)),
                // The neighbour of a small number has more digits than a Decimal.
                .double(whole.magnitude > 1 << 40 ? Double(whole).nextUp : Double(whole)),
            ]
            for a in near {
                for b in near {
                    // Doubles of this range are exact as a Decimal of 38 digits.
                    let (x, y) = (try #require(exact(a)), try #require(exact(b)))
                    let order = try collation.order(a, b)
                    #expect(order == Collation.Order(x, y), "\(a) and \(b), seed \(seed)")
                }
            }
        }
    }

    private func exact(_ value: BSONValue) -> Decimal? {
        guard case .double(let number) = value else { return value.decimalValue }
        // Halves and quarters of whole numbers: text with all digits.
        return Decimal(string: String(format: "%.60f", number))
    }

    @Test("Types that JSON lacks have the position of their extended JSON")
    func otherTypes() throws {
        let date = BSONValue.date(1_700_000_000_000)
        let text: BSONValue = ["$date": "2023-11-14T22:13:20Z"]
        #expect(try collation.order(date, text) == .same)
        #expect(try collation.order(date, .date(1_700_000_001_000)) == .before)
        #expect(try collation.order(date, .array([])) == .after)
        let id = try #require(ObjectID("0123456789abcdef01234567"))
        #expect(try collation.order(.objectID(id), ["$oid": "0123456789abcdef01234567"]) == .same)
        #expect(try collation.order(.double(.nan), ["$numberDouble": "NaN"]) == .same)
        #expect(try collation.order(.decimal128(.infinity), ["$numberDecimal": "Infinity"]) == .same)
        #expect(try collation.order(.minKey, ["$minKey": 1]) == .same)
        #expect(try collation.order(.undefined, ["$undefined": true]) == .same)
    }

    @Test("The order is transitive and antisymmetric for random values")
    func totalOrder() throws {
        let seed = SeededGenerator.seed()
        var random = SeededGenerator(seed: seed)
        let values = (0..<60).map { _ in RandomValues.value(depth: 2, using: &random) }
        for a in values {
            for b in values {
                let order = try collation.order(a, b)
                let reversed = try collation.order(b, a)
                #expect(order == reversed.reversed, "seed \(seed): \(a) and \(b)")
                guard order != .after else { continue }
                for c in values where try collation.order(b, c) != .after {
                    let outer = try collation.order(a, c)
                    #expect(outer != .after, "seed \(seed): \(a), \(b), \(c)")
                }
            }
        }
    }
}
#endif
