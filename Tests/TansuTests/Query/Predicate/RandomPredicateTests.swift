import Foundation
import Tansu
import TansuTestSupport
import Testing

@available(macOS 14, *)
private typealias Truth = any StandardPredicateExpression<Bool>
@available(macOS 14, *)
private typealias Variable = PredicateExpressions.Variable<Sample>

/// Predicates of random shape, made of the expressions that the macro makes.
@available(macOS 14, *)
private struct TreeMaker {
    var maker: Maker

    mutating func truth(_ variable: Variable, depth: Int) -> Truth {
        guard depth > 0 else { return leaf(variable) }
        let (a, b) = (truth(variable, depth: depth - 1), truth(variable, depth: depth - 1))
        switch maker.generator.next() % 7 {
        case 0: return negation(a)
        case 1, 2: return conjunction(a, b)
        case 3, 4: return disjunction(a, b)
        case 5: return conditional(leaf(variable), a, b)
        default: return equality(a, b)
        }
    }

    private mutating func leaf(_ variable: Variable) -> Truth {
        let (n, m, s, d) = (maker.whole(), maker.whole(), maker.text(), maker.part())
        typealias E = PredicateExpressions
        let operators: [E.ComparisonOperator] = [
            .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual,
        ]
        let op = Int(maker.generator.next() % 4)
        switch maker.generator.next() % 12 {
        case 0:
            return E.build_Comparison(
                lhs: E.build_KeyPath(root: variable, keyPath: \.whole), rhs: E.build_Arg(n), op: operators[op])
        case 1:
            return E.build_Comparison(
                lhs: E.build_Arg(d), rhs: E.build_KeyPath(root: variable, keyPath: \.part), op: operators[op])
        case 2:
            return E.build_Equal(
                lhs: E.build_KeyPath(root: variable, keyPath: \.maybeWhole), rhs: E.build_Arg(Int?.some(n)))
        case 3:
            return E.build_NotEqual(
                lhs: E.build_KeyPath(root: variable, keyPath: \.maybePart), rhs: E.build_Arg(Double?.some(d)))
        case 4:
            let coalesced = E.build_NilCoalesce(
                lhs: E.build_KeyPath(root: variable, keyPath: \.maybeWhole),
                rhs: E.build_KeyPath(root: variable, keyPath: \.whole))
            return E.build_Comparison(lhs: coalesced, rhs: E.build_Arg(m), op: operators[op])
        case 5:
            let chain = E.build_flatMap(E.build_KeyPath(root: variable, keyPath: \.inner)) {
                E.build_KeyPath(root: $0, keyPath: \.number)
            }
            return E.build_Equal(lhs: E.build_NilCoalesce(lhs: chain, rhs: E.build_Arg(m)), rhs: E.build_Arg(n))
        case 6: return E.build_contains(E.build_KeyPath(root: variable, keyPath: \.tags), E.build_Arg(s))
        case 7:
            return E.build_contains(E.build_KeyPath(root: variable, keyPath: \.inners)) { inner in
                E.build_Disjunction(
                    lhs: E.build_Equal(lhs: E.build_KeyPath(root: inner, keyPath: \.text), rhs: E.build_Arg(s)),
                    rhs: E.build_Equal(
                        lhs: E.build_KeyPath(root: inner, keyPath: \.number), rhs: E.build_Arg(Int?.none)))
            }
        case 8:
            return E.build_allSatisfy(E.build_KeyPath(root: variable, keyPath: \.inners)) { inner in
                E.build_Negation(
                    E.build_Equal(lhs: E.build_KeyPath(root: inner, keyPath: \.number), rhs: E.build_Arg(Int?.some(n))))
            }
        case 9:
            return E.build_NilCoalesce(
                lhs: E.build_flatMap(E.build_KeyPath(root: variable, keyPath: \.maybeNumbers)) {
                    E.build_contains($0, E.build_Arg(n))
                }, rhs: E.build_KeyPath(root: variable, keyPath: \.flag))
        case 10: return E.build_KeyPath(root: variable, keyPath: \.flag)
        default:
            return E.build_Equal(
                lhs: E.build_flatMap(E.build_KeyPath(root: variable, keyPath: \.maybeText)) {
                    E.build_starts($0, with: E.build_Arg(s))
                }, rhs: E.build_KeyPath(root: variable, keyPath: \.maybeFlag))
        }
    }

    private func negation(_ a: some StandardPredicateExpression<Bool>) -> Truth {
        PredicateExpressions.build_Negation(a)
    }

    private func conjunction(
        _ a: some StandardPredicateExpression<Bool>, _ b: some StandardPredicateExpression<Bool>
    ) -> Truth {
        PredicateExpressions.build_Conjunction(lhs: a, rhs: b)
    }

    private func disjunction(
        _ a: some StandardPredicateExpression<Bool>, _ b: some StandardPredicateExpression<Bool>
    ) -> Truth {
        PredicateExpressions.build_Disjunction(lhs: a, rhs: b)
    }

    private func equality(
        _ a: some StandardPredicateExpression<Bool>, _ b: some StandardPredicateExpression<Bool>
    ) -> Truth {
        PredicateExpressions.build_Equal(lhs: a, rhs: b)
    }

    private func conditional(
        _ test: some StandardPredicateExpression<Bool>, _ a: some StandardPredicateExpression<Bool>,
        _ b: some StandardPredicateExpression<Bool>
    ) -> Truth {
        PredicateExpressions.build_Conditional(test, a, b)
    }
}

@Suite("Predicates of random shape")
struct RandomPredicateTests {
    @Test("A query selects what its predicate is true of, whether nil is missing or null")
    @available(macOS 14, *)
    func agree() throws {
        let seed = SeededGenerator.seed()
        print("predicate trees: TANSU_SEED=\(seed)")
        var trees = TreeMaker(maker: Maker(generator: SeededGenerator(seed: seed)))
        for round in 0..<8 {
            let samples = (0..<40).map { trees.maker.sample($0) }
            let collection = try Database(.memory).collection("samples", of: Sample.self)
            try collection.save(samples)
            if round % 2 == 1 {
                for path in ["w?", "p", "x\\.y", "maybeFlag", "maybeNumbers", "inner"] {
                    try collection.update([path: ["$exists": false]], ["$set": [path: nil]])
                }
            }
            if round % 4 > 1 { try collection.ensureIndex(on: ["inner.number": .ascending, "w?": .descending]) }
            for _ in 0..<40 {
                let predicate = Predicate<Sample> { trees.truth($0, depth: 3) }
                let wanted = try samples.filter { try predicate.evaluate($0) }.map(\.id)
                let query = try collection.find(predicate)
                #expect(try query.all().map(\.id) == wanted, "seed \(seed): \(predicate) \(query.filter)")
            }
        }
    }
}
