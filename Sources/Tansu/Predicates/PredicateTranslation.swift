import Foundation

/// Goes through the expressions of a predicate.
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
struct PredicateTranslation {
    /// What the variables stand for.
    var variables: [PredicateExpressions.VariableID: Term] = [:]

    /// What an expression stands for.
    ///
    /// - Throws: ``TansuError`` with `.invalidQuery` that names the innermost expression that cannot be said.
    func term(_ expression: some PredicateExpression) throws -> Term {
        guard let translatable = expression as? any TranslatableExpression else {
            throw Self.error(expression, "there is nothing like it in a query")
        }
        do {
            return try translatable.term(self)
        } catch let refusal as Refusal {
            throw Self.error(expression, refusal.reason)
        }
    }

    /// That an expression is true.
    func clause(_ expression: some PredicateExpression) throws -> Clause {
        try term(expression).isTrue()
    }

    /// The same with one more variable.
    func binding(_ variable: PredicateExpressions.VariableID, to term: Term) -> Self {
        var translation = self
        translation.variables[variable] = term
        return translation
    }

    private static func error(_ expression: some PredicateExpression, _ reason: String) -> TansuError {
        let name = "\(type(of: expression))".prefix { $0 != "<" }
        return TansuError(
            .invalidQuery,
            "the predicate's expression \(name) cannot be made a query: \(reason). Write that part as a document, or "
                + "filter the results in Swift.", context: "\(expression)")
    }
}

/// An expression of predicates that there may be a term for.
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
protocol TranslatableExpression {
    /// What it stands for.
    ///
    /// - Throws: ``Refusal`` when there is none; what its parts throw.
    func term(_ translation: PredicateTranslation) throws -> Term
}

/// Why an expression has no term.
struct Refusal: Error {
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}
