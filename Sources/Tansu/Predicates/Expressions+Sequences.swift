import Foundation

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.SequenceContains: TranslatableExpression {
    func term(_ translation: PredicateTranslation) throws -> Term {
        let (sequence, element) = (try translation.term(sequence), try translation.term(element))
        return .truth(
            try sequence.clause { sequence in
                switch sequence {
                case .constant(let values): try isOne(of: values, element)
                case .field(let place, let type): try contains(place, type, element)
                case .range: try element.isIn(sequence)
                default: throw Refusal("it looks into what is no array")
                }
            })
    }

    private func isOne(of values: Any?, _ element: Term) throws -> Clause {
        if let range = values as? any BoundedRange { return try element.isIn(range.term) }
        guard let values = values as? LHS.Output else { throw Refusal("it looks into nil") }
        return try element.clause { element in
            guard case .field(let place, _) = element else {
                return try few(values).reduce(.constant(false)) {
                    try $0 || Term.compare(.equal, element, Term(value: $1))
                }
            }
            return .isOne(place, of: try values.map { try storedOrNull(Term(value: $0).constantValue ?? nil) })
        }
    }

    private func contains(_ place: FieldPlace, _ type: any Any.Type, _ element: Term) throws -> Clause {
        try element.clause { element in
            guard let value = element.constantValue else {
                throw Refusal("a query looks for a value in an array, not for another field")
            }
            if type is any QueryText.Type, let character = value as? Character {
                return .test(place, ["$contains": .string(String(character))])
            }
            guard type is any QueryArray.Type else { throw Refusal("\(type) is not stored as an array") }
            return .contains(place, try storedOrNull(value))
        }
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.SequenceContainsWhere: TranslatableExpression {
    func term(_ translation: PredicateTranslation) throws -> Term {
        let sequence = try translation.term(sequence)
        return .truth(
            try sequence.clause { sequence in
                switch sequence {
                case .constant(let values as LHS.Output):
                    return try few(values).reduce(.constant(false)) {
                        try $0 || translation.binding(variable.key, to: Term(value: $1)).clause(test)
                    }
                case .filtered(let place, let clause, _):
                    return .someElement(place, of: Element.self, clause && (try elementClause(place, translation)))
                default:
                    let place = try sequence.arrayPlace()
                    return .someElement(place, of: Element.self, try elementClause(place, translation))
                }
            })
    }

    private func elementClause(_ place: FieldPlace, _ translation: PredicateTranslation) throws -> Clause {
        try translation.binding(variable.key, to: .element(of: place, Element.self)).clause(test)
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.SequenceAllSatisfy: TranslatableExpression {
    func term(_ translation: PredicateTranslation) throws -> Term {
        let sequence = try translation.term(sequence)
        return .truth(
            try sequence.clause { sequence in
                if case .constant(let values as LHS.Output) = sequence {
                    return try few(values).reduce(.constant(true)) {
                        try $0 && translation.binding(variable.key, to: Term(value: $1)).clause(test)
                    }
                }
                let place = try sequence.arrayPlace()
                return .allElements(
                    place, of: Element.self,
                    try translation.binding(variable.key, to: .element(of: place, Element.self)).clause(test))
            })
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.Filter: TranslatableExpression {
    func term(_ translation: PredicateTranslation) throws -> Term {
        let place = try translation.term(sequence).arrayPlace()
        let element = Term.element(of: place, LHS.Output.Element.self)
        return .filtered(
            place, try translation.binding(variable.key, to: element).clause(filter), LHS.Output.Element.self)
    }
}

/// Values of which each becomes a condition of its own.
private func few<Values: Sequence>(_ values: Values) throws -> [Values.Element] {
    let most = 1000
    let values = Array(values.prefix(most + 1))
    guard values.count <= most else { throw Refusal("there are more than \(most) values to ask about") }
    return values
}

private func storedOrNull(_ value: Any?) throws -> BSONValue {
    try value.map { try stored($0, inOrder: false) } ?? .null
}

extension Term {
    /// An element of the array at a place.
    fileprivate static func element(of place: FieldPlace, _ type: any Any.Type) -> Term {
        .field(FieldPlace(depth: place.depth + 1), type)
    }

    /// The place, when there is an array.
    fileprivate func arrayPlace() throws -> FieldPlace {
        guard case .field(let place, let type) = self, type is any QueryArray.Type else {
            throw Refusal("it looks into what is not stored as an array")
        }
        return place
    }
}
