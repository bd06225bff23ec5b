import Foundation

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.Range: TranslatableExpression {
    func term(_ translator: PredicateTranslator) throws -> Term {
        .range(lower: try translator.term(lower), upper: try translator.term(upper), isClosed: false)
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.ClosedRange: TranslatableExpression {
    func term(_ translator: PredicateTranslator) throws -> Term {
        .range(lower: try translator.term(lower), upper: try translator.term(upper), isClosed: true)
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.RangeExpressionContains: TranslatableExpression {
    func term(_ translator: PredicateTranslator) throws -> Term {
        var range = try translator.term(self.range)
        if case .constant(let value as any BoundedRange) = range { range = value.term }
        return .truth(try translator.term(element).isIn(range))
    }
}

extension Term {
    /// That the term lies in a range.
    func isIn(_ range: Term) throws -> Clause {
        guard case .range(let lower, let upper, let isClosed) = range else {
            throw TranslationError("it is not a range")
        }
        let isAbove = try lower.map { try Term.compare(.greaterOrEqual, self, $0) }
        let isBelow = try upper.map { try Term.compare(isClosed ? .lessOrEqual : .less, self, $0) }
        return (isAbove ?? .constant(true)) && (isBelow ?? .constant(true))
    }
}

/// A range of Swift.
protocol BoundedRange {
    /// The range with its bounds as constants.
    var term: Term { get }
}

extension Range: BoundedRange {
    var term: Term { .range(lower: Term(value: lowerBound), upper: Term(value: upperBound), isClosed: false) }
}

extension ClosedRange: BoundedRange {
    var term: Term { .range(lower: Term(value: lowerBound), upper: Term(value: upperBound), isClosed: true) }
}

extension PartialRangeFrom: BoundedRange {
    var term: Term { .range(lower: Term(value: lowerBound), upper: nil, isClosed: true) }
}

extension PartialRangeThrough: BoundedRange {
    var term: Term { .range(lower: nil, upper: Term(value: upperBound), isClosed: true) }
}

extension PartialRangeUpTo: BoundedRange {
    var term: Term { .range(lower: nil, upper: Term(value: upperBound), isClosed: false) }
}
