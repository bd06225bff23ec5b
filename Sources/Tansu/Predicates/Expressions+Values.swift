import Foundation

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.Variable: TranslatableExpression {
    func term(_ translation: PredicateTranslation) throws -> Term {
        guard let term = translation.variables[key] else { throw Refusal("the variable is not of this predicate") }
        return term
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.Value: TranslatableExpression {
    func term(_ translation: PredicateTranslation) -> Term { Term(value: value) }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.NilLiteral: TranslatableExpression {
    func term(_ translation: PredicateTranslation) -> Term { .constant(nil) }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.KeyPath: TranslatableExpression {
    func term(_ translation: PredicateTranslation) throws -> Term {
        try translation.term(root).map { root in
            switch root {
            case .constant(let value):
                guard let value = value as? Root.Output else { throw Refusal("it reads a property of nil") }
                return Term(value: value[keyPath: keyPath as Swift.KeyPath<Root.Output, Output>])
            case .field(let place, let type): return try property(of: place, type)
            case .filtered(let place, let clause, let type):
                guard kind == .collectionIsEmpty else { break }
                return .truth(!.someElement(place, of: type, clause))
            default: break
            }
            throw Refusal("it reads a property of what is no field")
        }
    }

    private func property(of place: FieldPlace, _ type: any Any.Type) throws -> Term {
        switch kind {
        case nil:
            let names = try StoredNames.shared.keys(
                of: keyPath as Swift.KeyPath<Root.Output, Output>, isTop: place.isDocument)
            return .field(place.appending(names), Output.self)
        case .collectionIsEmpty where type is any QueryText.Type: return .truth(.compare(place, .equal, ""))
        case .collectionIsEmpty where type is any QueryArray.Type: return .truth(.count(place, .equal, 0))
        case .collectionCount where type is any QueryArray.Type: return .count(place)
        case .collectionCount: throw Refusal("documents know the number of elements, not that of characters")
        default: throw Refusal("a query cannot take one element of an array")
        }
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.DictionaryKeySubscript: TranslatableExpression {
    func term(_ translation: PredicateTranslation) throws -> Term {
        try entry(of: try translation.term(wrapped), try translation.term(key), Value.self)
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.DictionaryKeyDefaultValueSubscript: TranslatableExpression {
    func term(_ translation: PredicateTranslation) throws -> Term {
        let entry = try entry(of: try translation.term(wrapped), try translation.term(key), Default.Output.self)
        return try entry.coalesced(with: try translation.term(self.default))
    }
}

/// The value for a key of a dictionary.
private func entry(of dictionary: Term, _ key: Term, _ type: any Any.Type) throws -> Term {
    guard case .field(let place, _) = dictionary, let key = key.constantValue as? String else {
        throw Refusal("a query asks for a key of a stored dictionary, and the key is a text that is known beforehand")
    }
    guard !(type is any OptionalValue.Type) else {
        throw Refusal("an optional inside a dictionary may be nil or missing")
    }
    return .field(place.appending([key]), type)
}
