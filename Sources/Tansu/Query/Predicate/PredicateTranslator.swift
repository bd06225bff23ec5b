public import Foundation

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

// MARK: - Collection: find by predicate

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension Database.Collection {
    /// A query for the documents that match a predicate of Foundation.
    ///
    /// For example:
    ///
    /// ```swift
    /// let cats = try people.find(#Predicate { $0.pet?.species == "cat" && $0.age > 10 }).all()
    /// ```
    ///
    /// It has the meaning of the predicate for the decoded value, except that strings are compared by their Unicode
    /// scalars and values as they are stored: a `Date` to the millisecond. For a document for which the predicate would
    /// throw, such as by a forced unwrap of nil, the result is unspecified.
    ///
    /// Supported are comparisons with values, `&&`, `||`, `!`, `?:`, `?.`, `??`, `if let`, ranges, `contains`,
    /// `contains(where:)`, `allSatisfy`, `count`, `isEmpty` and `first` of arrays, `starts(with:)` and `contains` of text,
    /// keys of dictionaries, sums of a whole number and a constant, and remainders.
    ///
    /// - Throws: ``TansuError`` with `.invalidQuery`: an unsupported expression, which the message names and the
    ///   context shows; what ``find(_:)`` with a closure throws.
    public func find(_ predicate: Predicate<Element>) throws -> Database.Query<Element> {
        let names = scope
        let filter = try names.coding {
            try predicate.clause(of: [.field(.document, Element.self)], names).document()
        }
        return find(stored: filter)
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension Database.Query {
    /// Those of the same documents that also match a predicate of Foundation.
    ///
    /// The compiler gives up on a long `#Predicate`; several short ones are as good:
    ///
    /// ```swift
    /// let found = try people.find(#Predicate { $0.age > 10 && $0.age < 20 }).and(#Predicate { $0.name != "mike" })
    /// ```
    ///
    /// - Parameter predicate: The predicate.
    /// - Throws: As `find` with a predicate.
    public func and(_ predicate: Predicate<Element>) throws -> Self {
        and(try ownCollection.find(predicate))
    }
}
