import Foundation

/// Translates the expressions of a predicate.
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
struct PredicateTranslator {
    /// The terms of the variables.
    var variables: [PredicateExpressions.VariableID: Term] = [:]
    /// The names of the properties.
    let names: NamingScope

    /// The term of an expression.
    ///
    /// - Throws: ``TansuError`` with `.invalidQuery` that names the innermost expression without a term.
    func term(_ expression: some PredicateExpression) throws -> Term {
        guard let translatable = expression as? any TranslatableExpression else {
            throw Self.untranslatable(expression, "queries have no equivalent")
        }
        do {
            return try translatable.term(self)
        } catch let refusal as TranslationError {
            throw Self.untranslatable(expression, refusal.reason)
        }
    }

    /// That an expression is true.
    func clause(_ expression: some PredicateExpression) throws -> Clause {
        try term(expression).isTrue()
    }

    /// The same with one more variable.
    func binding(_ variable: PredicateExpressions.VariableID, to term: Term) -> Self {
        var translator = self
        translator.variables[variable] = term
        return translator
    }

    private static func untranslatable(_ expression: some PredicateExpression, _ reason: String) -> TansuError {
        let name = "\(type(of: expression))".prefix { $0 != "<" }
        return TansuError(
            .invalidQuery,
            "The predicate expression \"\(name)\" cannot be translated into a query: \(reason);"
                + " write that part as a document, or filter the results in Swift",
            context: safeDescription(of: expression))
    }
}

/// An expression of predicates that may have a term.
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
protocol TranslatableExpression {
    /// The term.
    ///
    /// - Throws: ``TranslationError`` when there is none; what its parts throw.
    func term(_ translator: PredicateTranslator) throws -> Term
}

/// Why an expression has no term.
struct TranslationError: Error {
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}
