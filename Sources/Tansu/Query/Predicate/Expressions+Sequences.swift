import Foundation

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.SequenceContains: TranslatableExpression {
    func term(_ translator: PredicateTranslator) throws -> Term {
        let (sequence, element) = (try translator.term(sequence), try translator.term(element))
        return .truth(
            try sequence.clause { sequence in
                switch sequence {
                case .constant(let values): try isOne(of: values, element)
                case .field(let path, let type): try contains(path, type, element)
                case .range: try element.isIn(sequence)
                default: throw TranslationError("it searches a value that is not an array")
                }
            })
    }

    private func isOne(of values: Any?, _ element: Term) throws -> Clause {
        if let range = values as? any BoundedRange { return try element.isIn(range.term) }
        guard let values = values as? LHS.Output else { throw TranslationError("it searches nil") }
        return try element.clause { element in
            guard case .field(let path, _) = element else {
                return try few(values).reduce(.constant(false)) {
                    try $0 || Term.compare(.equal, element, Term(value: $1))
                }
            }
            return .isOne(
                path, of: try values.flatMap { try formsOrNull(Term(value: $0).constantValue ?? nil, at: path) })
        }
    }

    private func contains(_ path: FieldPath, _ type: any Any.Type, _ element: Term) throws -> Clause {
        try element.clause { element in
            guard let value = element.constantValue else {
                throw TranslationError("a query can search an array for a value, not for another field")
            }
            if type is any QueryText.Type, let character = value as? Character {
                return .test(path, ["$contains": .string(String(character))])
            }
            guard type is any QueryArray.Type else { throw TranslationError("\(type) is not stored as an array") }
            return .contains(path, forms: try formsOrNull(value, at: path.element))
        }
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.SequenceContainsWhere: TranslatableExpression {
    func term(_ translator: PredicateTranslator) throws -> Term {
        let sequence = try translator.term(sequence)
        return .truth(
            try sequence.clause { sequence in
                switch sequence {
                case .constant(let values as LHS.Output):
                    return try few(values).reduce(.constant(false)) {
                        try $0 || translator.binding(variable.key, to: Term(value: $1)).clause(test)
                    }
                case .filtered(let path, let clause, _):
                    return .someElement(path, of: Element.self, clause && (try elementClause(path, translator)))
                default:
                    let path = try sequence.arrayPath()
                    return .someElement(path, of: Element.self, try elementClause(path, translator))
                }
            })
    }

    private func elementClause(_ path: FieldPath, _ translator: PredicateTranslator) throws -> Clause {
        try translator.binding(variable.key, to: .element(of: path, Element.self)).clause(test)
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.SequenceAllSatisfy: TranslatableExpression {
    func term(_ translator: PredicateTranslator) throws -> Term {
        let sequence = try translator.term(sequence)
        return .truth(
            try sequence.clause { sequence in
                if case .constant(let values as LHS.Output) = sequence {
                    return try few(values).reduce(.constant(true)) {
                        try $0 && translator.binding(variable.key, to: Term(value: $1)).clause(test)
                    }
                }
                let path = try sequence.arrayPath()
                return .allElements(
                    path, of: Element.self,
                    try translator.binding(variable.key, to: .element(of: path, Element.self)).clause(test))
            })
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.Filter: TranslatableExpression {
    func term(_ translator: PredicateTranslator) throws -> Term {
        let path = try translator.term(sequence).arrayPath()
        let element = Term.element(of: path, LHS.Output.Element.self)
        return .filtered(
            path, try translator.binding(variable.key, to: element).clause(filter), LHS.Output.Element.self)
    }
}

/// Values, each of which becomes a condition; throws when there are too many.
private func few<Values: Sequence>(_ values: Values) throws -> [Values.Element] {
    let most = 1000
    let values = Array(values.prefix(most + 1))
    guard values.count <= most else { throw TranslationError("there are more than \(most) values to compare with") }
    return values
}

private func formsOrNull(_ value: Any?, at path: FieldPath) throws -> [BSONValue] {
    try value.map { try storedForms($0, at: path, inOrder: false) } ?? [.null]
}

extension Term {
    /// An element of the array at a path.
    fileprivate static func element(of path: FieldPath, _ type: any Any.Type) -> Term {
        .field(path.element, type)
    }

    /// The path, when there is an array.
    fileprivate func arrayPath() throws -> FieldPath {
        guard case .field(let path, let type) = self, type is any QueryArray.Type else {
            throw TranslationError("it searches a value that is not stored as an array")
        }
        return path
    }
}
