import Foundation

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.OptionalFlatMap: TranslatableExpression {
    func term(_ translation: PredicateTranslation) throws -> Term {
        try translation.term(wrapped).map { wrapped in
            func transformed(_ term: Term) throws -> Term {
                try translation.binding(variable.key, to: term).term(transform)
            }
            switch wrapped {
            case .constant(nil): return .constant(nil)
            case .constant: return try transformed(wrapped)
            case .field(let place, _):
                let result = try transformed(.field(place, Wrapped.self))
                // What is missing has no properties either, so that these say the same alone.
                if case .field(let inner, _) = result, inner.isInside(place) { return result }
                return .choice([(.isPresent(place), result), (!.isPresent(place), .constant(nil))])
            default: throw Refusal("it unwraps what is no field")
            }
        }
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.NilCoalesce: TranslatableExpression {
    func term(_ translation: PredicateTranslation) throws -> Term {
        try translation.term(lhs).coalesced(with: try translation.term(rhs))
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.ForcedUnwrap: TranslatableExpression {
    /// Where it is nil, the predicate has no value: nothing is said of such documents.
    func term(_ translation: PredicateTranslation) throws -> Term { try translation.term(inner) }
}

extension Term {
    /// The term, or another where it is nil.
    func coalesced(with other: Term) throws -> Term {
        try map { term in
            switch term {
            case .constant(nil): return other
            case .field(let place, _): return .choice([(.isPresent(place), term), (!.isPresent(place), other)])
            default: return term
            }
        }
    }
}

extension FieldPlace {
    fileprivate func isInside(_ outer: FieldPlace) -> Bool {
        depth == outer.depth && keys.starts(with: outer.keys)
    }
}
