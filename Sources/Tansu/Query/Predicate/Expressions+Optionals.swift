import Foundation

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.OptionalFlatMap: TranslatableExpression {
    func term(_ translator: PredicateTranslator) throws -> Term {
        try translator.term(wrapped).map { wrapped in
            func transformed(_ term: Term) throws -> Term {
                try translator.binding(variable.key, to: term).term(transform)
            }
            switch wrapped {
            case .constant(nil): return .constant(nil)
            case .constant: return try transformed(wrapped)
            case .field(let path, _):
                let result = try transformed(.field(path, Wrapped.self))
                // A missing value has no properties either, so that the result alone is equivalent.
                if case .field(let inner, _) = result, inner.isInside(path) { return result }
                return .choice([(.isPresent(path), result), (!.isPresent(path), .constant(nil))])
            default: throw TranslationError("it unwraps a value that is not a field")
            }
        }
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.NilCoalesce: TranslatableExpression {
    func term(_ translator: PredicateTranslator) throws -> Term {
        try translator.term(lhs).coalesced(with: try translator.term(rhs))
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.ForcedUnwrap: TranslatableExpression {
    /// Where it is nil, the predicate throws: the result for such documents is unspecified.
    func term(_ translator: PredicateTranslator) throws -> Term { try translator.term(inner) }
}

extension Term {
    /// The term, or another where it is nil.
    func coalesced(with other: Term) throws -> Term {
        try map { term in
            switch term {
            case .constant(nil): return other
            case .field(let path, _): return .choice([(.isPresent(path), term), (!.isPresent(path), other)])
            default: return term
            }
        }
    }
}

extension FieldPath {
    fileprivate func isInside(_ outer: FieldPath) -> Bool {
        depth == outer.depth && keys.starts(with: outer.keys)
    }
}
