import Foundation

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.Variable: TranslatableExpression {
    func term(_ translator: PredicateTranslator) throws -> Term {
        guard let term = translator.variables[key] else {
            throw TranslationError("the variable belongs to another predicate")
        }
        return term
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.Value: TranslatableExpression {
    func term(_ translator: PredicateTranslator) -> Term { Term(value: value) }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.NilLiteral: TranslatableExpression {
    func term(_ translator: PredicateTranslator) -> Term { .constant(nil) }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.KeyPath: TranslatableExpression {
    func term(_ translator: PredicateTranslator) throws -> Term {
        try translator.term(root).map { root in
            switch root {
            case .constant(let value):
                guard let value = value as? Root.Output else { throw TranslationError("it reads a property of nil") }
                return Term(value: value[keyPath: keyPath as Swift.KeyPath<Root.Output, Output>])
            case .field(let path, let type): return try property(of: path, type, translator.names)
            case .filtered(let path, let clause, let type):
                guard kind == .collectionIsEmpty else { break }
                return .truth(!.someElement(path, of: type, clause))
            default: break
            }
            throw TranslationError("it reads a property of a value that is not a field")
        }
    }

    private func property(of path: FieldPath, _ type: any Any.Type, _ names: NamingScope) throws -> Term {
        switch kind {
        case nil:
            return .field(try names.path(of: keyPath as Swift.KeyPath<Root.Output, Output>, in: path), Output.self)
        case .collectionIsEmpty where type is any QueryText.Type: return .truth(.compare(path, .equal, ""))
        case .collectionIsEmpty where type is any QueryArray.Type: return .truth(.count(path, .equal, 0))
        case .collectionCount where type is any QueryArray.Type: return .count(path)
        case .collectionFirst where type is any QueryArray.Type && !(type is any QueryUnordered.Type):
            return .field(path.firstElement, Output.self)
        case .collectionCount: throw TranslationError("a query can count elements, not characters")
        default: throw TranslationError("a query cannot take one element of an array")
        }
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.DictionaryKeySubscript: TranslatableExpression {
    func term(_ translator: PredicateTranslator) throws -> Term {
        try entry(of: try translator.term(wrapped), try translator.term(key), Value.self)
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.DictionaryKeyDefaultValueSubscript: TranslatableExpression {
    func term(_ translator: PredicateTranslator) throws -> Term {
        let entry = try entry(of: try translator.term(wrapped), try translator.term(key), Default.Output.self)
        return try entry.coalesced(with: try translator.term(self.default))
    }
}

/// The value for a key of a dictionary.
private func entry(of dictionary: Term, _ key: Term, _ type: any Any.Type) throws -> Term {
    guard case .field(let path, _) = dictionary, let key = key.constantValue as? String else {
        throw TranslationError("a query can read a stored dictionary only with a constant string as the key")
    }
    guard !(type is any OptionalValue.Type) else {
        throw TranslationError("an optional inside a dictionary may be nil or missing")
    }
    return .field(path.appending([key]), type)
}
