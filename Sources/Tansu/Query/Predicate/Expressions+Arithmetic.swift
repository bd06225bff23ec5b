import Foundation

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.Arithmetic: TranslatableExpression {
    func term(_ translator: PredicateTranslator) throws -> Term {
        let right = try translator.term(rhs)
        return try translator.term(lhs).map { a in try right.map { b in try combined(a, b) } }
    }

    private func combined(_ a: Term, _ b: Term) throws -> Term {
        switch (a, b) {
        case (.constant(let a as Output), .constant(let b as Output)): return Term(value: try value(a, b))
        case (_, .constant(let b)) where op != .multiply: return try sum(a, b, isSubtracted: op == .subtract)
        case (.constant(let a), _) where op == .add: return try sum(b, a, isSubtracted: false)
        case (.constant(let a), _) where op == .subtract: return try sum(try b.negated(), a, isSubtracted: false)
        default: throw TranslationError("a query can only add a constant to a field")
        }
    }

    private func value(_ a: Output, _ b: Output) throws -> Output {
        func whole<I: FixedWidthInteger>(_ a: I) throws -> Any {
            guard let b = b as? I else { throw TranslationError("the numbers are of two types") }
            let (result, overflow) =
                switch op {
                case .add: a.addingReportingOverflow(b)
                case .subtract: a.subtractingReportingOverflow(b)
                case .multiply: a.multipliedReportingOverflow(by: b)
                @unknown default: throw TranslationError("the operation is unknown")
                }
            guard !overflow else { throw TranslationError("the result is too large") }
            return result
        }
        if let a = a as? any FixedWidthInteger, let result = try whole(a) as? Output { return result }
        switch op {
        case .add: return a + b
        case .subtract: return a - b
        case .multiply: return a * b
        @unknown default: throw TranslationError("the operation is unknown")
        }
    }

    /// Whole numbers only: sums of others are rounded, which changes the comparison.
    private func sum(_ term: Term, _ number: Any?, isSubtracted: Bool) throws -> Term {
        guard let number = Term.wholeNumber(number) else {
            throw TranslationError("only whole numbers can be added to a field")
        }
        let (path, isNegative, before) = try term.summands()
        let (after, overflow) =
            isSubtracted
            ? before.subtractingReportingOverflow(number) : before.addingReportingOverflow(number)
        guard !overflow else { throw TranslationError("the sum is too large") }
        return .sum(path, isNegative: isNegative, after)
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.UnaryMinus: TranslatableExpression {
    func term(_ translator: PredicateTranslator) throws -> Term {
        try translator.term(wrapped).map { term in
            guard case .constant(let value as Output) = term else { return try term.negated() }
            guard let whole = value as? any FixedWidthInteger else { return Term(value: -value) }
            guard let negative = Self.negative(whole) else { throw TranslationError("the result is too large") }
            return Term(value: negative)
        }
    }

    private static func negative<I: FixedWidthInteger>(_ value: I) -> Any? {
        let (result, overflow) = I.zero.subtractingReportingOverflow(value)
        return overflow ? nil : result
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.IntRemainder: TranslatableExpression {
    func term(_ translator: PredicateTranslator) throws -> Term {
        let right = try translator.term(rhs)
        return try translator.term(lhs).map { a in
            switch (a, right.constantValue) {
            case (.constant(let a as Output), .some(let b as Output)) where b != 0 && b != -1:
                return Term(value: a % b)
            case (.field(let path, _), .some(let b)):
                guard let divisor = Term.wholeNumber(b), divisor != 0 else { break }
                return .remainder(path, divisor: divisor)
            default: break
            }
            throw TranslationError("a query can divide a field only by a constant other than 0")
        }
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.IntDivision: TranslatableExpression {
    func term(_ translator: PredicateTranslator) throws -> Term {
        guard case .constant(let a as Output) = try translator.term(lhs),
            case .constant(let b as Output) = try translator.term(rhs), b != 0 && b != -1
        else { throw TranslationError("a query can divide only constants, and not by 0 or -1") }
        return Term(value: a / b)
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.FloatDivision: TranslatableExpression {
    func term(_ translator: PredicateTranslator) throws -> Term {
        guard case .constant(let a as Output) = try translator.term(lhs),
            case .constant(let b as Output) = try translator.term(rhs)
        else { throw TranslationError("a query can divide only constants") }
        return Term(value: a / b)
    }
}

extension Term {
    /// The parts of a sum.
    fileprivate func summands() throws -> (FieldPath, Bool, Int64) {
        switch self {
        case .field(let path, let type) where type is any FixedWidthInteger.Type: (path, false, 0)
        case .sum(let path, let isNegative, let summand): (path, isNegative, summand)
        default: throw TranslationError("only whole numbers can be added to a field")
        }
    }

    fileprivate func negated() throws -> Term {
        let (path, isNegative, summand) = try summands()
        let (negated, overflow) = Int64.zero.subtractingReportingOverflow(summand)
        guard !overflow else { throw TranslationError("the sum is too large") }
        return .sum(path, isNegative: !isNegative, negated)
    }
}
