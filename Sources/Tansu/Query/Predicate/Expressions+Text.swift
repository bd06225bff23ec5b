import Foundation

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.SequenceStartsWith: TranslatableExpression {
    func term(_ translator: PredicateTranslator) throws -> Term {
        .truth(try textTest("$begin", try translator.term(base), try translator.term(prefix)))
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.CollectionContainsCollection: TranslatableExpression {
    func term(_ translator: PredicateTranslator) throws -> Term {
        .truth(try textTest("$contains", try translator.term(base), try translator.term(other)))
    }
}

/// A text operator with a field and a constant.
private func textTest(_ name: String, _ text: Term, _ part: Term) throws -> Clause {
    try text.clause { text in
        try part.clause { part in
            switch (text, part.constantValue) {
            case (.field(let path, let type), .some(let part as String)) where type is any QueryText.Type:
                return .test(path, [name: .string(part)])
            case (.constant(let text as String), .some(let part as String)):
                // The standard library finds an empty text in every other; Foundation's `contains` does not.
                return .constant(name == "$begin" ? text.starts(with: part) : part.isEmpty || text.contains(part))
            default: throw TranslationError("a query can search a stored string only for a constant string")
            }
        }
    }
}
