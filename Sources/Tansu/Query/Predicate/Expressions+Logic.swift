import Foundation

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.Conjunction: TranslatableExpression {
    func term(_ translator: PredicateTranslator) throws -> Term {
        .truth(try translator.clause(lhs) && translator.clause(rhs))
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.Disjunction: TranslatableExpression {
    func term(_ translator: PredicateTranslator) throws -> Term {
        .truth(try translator.clause(lhs) || translator.clause(rhs))
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.Negation: TranslatableExpression {
    func term(_ translator: PredicateTranslator) throws -> Term {
        .truth(!(try translator.clause(wrapped)))
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.Conditional: TranslatableExpression {
    func term(_ translator: PredicateTranslator) throws -> Term {
        let test = try translator.clause(test)
        return .choice([(test, try translator.term(trueBranch)), (!test, try translator.term(falseBranch))])
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.Equal: TranslatableExpression {
    func term(_ translator: PredicateTranslator) throws -> Term {
        .truth(try Term.compare(.equal, try translator.term(lhs), try translator.term(rhs)))
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.NotEqual: TranslatableExpression {
    func term(_ translator: PredicateTranslator) throws -> Term {
        .truth(try Term.compare(.notEqual, try translator.term(lhs), try translator.term(rhs)))
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.Comparison: TranslatableExpression {
    func term(_ translator: PredicateTranslator) throws -> Term {
        let relation: Relation =
            switch op {
            case .lessThan: .less
            case .lessThanOrEqual: .lessOrEqual
            case .greaterThan: .greater
            case .greaterThanOrEqual: .greaterOrEqual
            @unknown default: throw TranslationError("the comparison is unknown")
            }
        return .truth(try Term.compare(relation, try translator.term(lhs), try translator.term(rhs)))
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension Predicate {
    /// The clause of the predicate for its inputs.
    func clause(of inputs: [Term], _ names: NamingScope) throws -> Clause {
        var keys: [PredicateExpressions.VariableID] = []
        repeat keys.append((each variable).key)
        let variables = Dictionary(zip(keys, inputs)) { first, _ in first }
        return try PredicateTranslator(variables: variables, names: names).clause(expression)
    }
}
