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

// MARK: - Optionals

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.OptionalFlatMap: TranslatableExpression {
    func term(_ translator: PredicateTranslator) throws -> Term {
        try translator.term(wrapped).map { wrapped in
            func transformed(_ term: Term) throws -> Term {
                try translator.binding(variable.key, to: term).term(transform)
            }
            switch wrapped {
            case .constant(nil): return .constant(nil)
            case .constant: return try transformed(wrapped)
            case .field(let path, _):
                let result = try transformed(.field(path, Wrapped.self))
                // A missing value has no properties either, so that the result alone is equivalent.
                if case .field(let inner, _) = result, inner.isInside(path) { return result }
                return .choice([(.isPresent(path), result), (!.isPresent(path), .constant(nil))])
            default: throw TranslationError("it unwraps a value that is not a field")
            }
        }
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.NilCoalesce: TranslatableExpression {
    func term(_ translator: PredicateTranslator) throws -> Term {
        try translator.term(lhs).coalesced(with: try translator.term(rhs))
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.ForcedUnwrap: TranslatableExpression {
    /// Where it is nil, the predicate throws: the result for such documents is unspecified.
    func term(_ translator: PredicateTranslator) throws -> Term { try translator.term(inner) }
}

extension Term {
    /// The term, or another where it is nil.
    func coalesced(with other: Term) throws -> Term {
        try map { term in
            switch term {
            case .constant(nil): return other
            case .field(let path, _): return .choice([(.isPresent(path), term), (!.isPresent(path), other)])
            default: return term
            }
        }
    }
}

extension FieldPath {
    fileprivate func isInside(_ outer: FieldPath) -> Bool {
        depth == outer.depth && keys.starts(with: outer.keys)
    }
}

// MARK: - Logic

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

// MARK: - Arithmetic

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.Arithmetic: TranslatableExpression {
    func term(_ translator: PredicateTranslator) throws -> Term {
        let right = try translator.term(rhs)
        return try translator.term(lhs).map { a in try right.map { b in try combined(a, b) } }
    }

    private func combined(_ a: Term, _ b: Term) throws -> Term {
        switch (a, b) {
        case (.constant(let a as Output), .constant(let b as Output)): return Term(value: try value(a, b))
        case (_, .constant(let b)) where op != .multiply: return try sum(a, b, isSubtracted: op == .subtract)
        case (.constant(let a), _) where op == .add: return try sum(b, a, isSubtracted: false)
        case (.constant(let a), _) where op == .subtract: return try sum(try b.negated(), a, isSubtracted: false)
        default: throw TranslationError("a query can only add a constant to a field")
        }
    }

    private func value(_ a: Output, _ b: Output) throws -> Output {
        func whole<I: FixedWidthInteger>(_ a: I) throws -> Any {
            guard let b = b as? I else { throw TranslationError("the numbers are of two types") }
            let (result, overflow) =
                switch op {
                case .add: a.addingReportingOverflow(b)
                case .subtract: a.subtractingReportingOverflow(b)
                case .multiply: a.multipliedReportingOverflow(by: b)
                @unknown default: throw TranslationError("the operation is unknown")
                }
            guard !overflow else { throw TranslationError("the result is too large") }
            return result
        }
        if let a = a as? any FixedWidthInteger, let result = try whole(a) as? Output { return result }
        switch op {
        case .add: return a + b
        case .subtract: return a - b
        case .multiply: return a * b
        @unknown default: throw TranslationError("the operation is unknown")
        }
    }

    /// Whole numbers only: sums of others are rounded, which changes the comparison.
    private func sum(_ term: Term, _ number: Any?, isSubtracted: Bool) throws -> Term {
        guard let number = Term.wholeNumber(number) else {
            throw TranslationError("only whole numbers can be added to a field")
        }
        let (path, isNegative, before) = try term.summands()
        let (after, overflow) =
            isSubtracted
            ? before.subtractingReportingOverflow(number) : before.addingReportingOverflow(number)
        guard !overflow else { throw TranslationError("the sum is too large") }
        return .sum(path, isNegative: isNegative, after)
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.UnaryMinus: TranslatableExpression {
    func term(_ translator: PredicateTranslator) throws -> Term {
        try translator.term(wrapped).map { term in
            guard case .constant(let value as Output) = term else { return try term.negated() }
            guard let whole = value as? any FixedWidthInteger else { return Term(value: -value) }
            guard let negative = Self.negative(whole) else { throw TranslationError("the result is too large") }
            return Term(value: negative)
        }
    }

    private static func negative<I: FixedWidthInteger>(_ value: I) -> Any? {
        let (result, overflow) = I.zero.subtractingReportingOverflow(value)
        return overflow ? nil : result
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.IntRemainder: TranslatableExpression {
    func term(_ translator: PredicateTranslator) throws -> Term {
        let right = try translator.term(rhs)
        return try translator.term(lhs).map { a in
            switch (a, right.constantValue) {
            case (.constant(let a as Output), .some(let b as Output)) where b != 0 && b != -1:
                return Term(value: a % b)
            case (.field(let path, _), .some(let b)):
                guard let divisor = Term.wholeNumber(b), divisor != 0 else { break }
                return .remainder(path, divisor: divisor)
            default: break
            }
            throw TranslationError("a query can divide a field only by a constant other than 0")
        }
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.IntDivision: TranslatableExpression {
    func term(_ translator: PredicateTranslator) throws -> Term {
        guard case .constant(let a as Output) = try translator.term(lhs),
            case .constant(let b as Output) = try translator.term(rhs), b != 0 && b != -1
        else { throw TranslationError("a query can divide only constants, and not by 0 or -1") }
        return Term(value: a / b)
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.FloatDivision: TranslatableExpression {
    func term(_ translator: PredicateTranslator) throws -> Term {
        guard case .constant(let a as Output) = try translator.term(lhs),
            case .constant(let b as Output) = try translator.term(rhs)
        else { throw TranslationError("a query can divide only constants") }
        return Term(value: a / b)
    }
}

extension Term {
    /// The parts of a sum.
    fileprivate func summands() throws -> (FieldPath, Bool, Int64) {
        switch self {
        case .field(let path, let type) where type is any FixedWidthInteger.Type: (path, false, 0)
        case .sum(let path, let isNegative, let summand): (path, isNegative, summand)
        default: throw TranslationError("only whole numbers can be added to a field")
        }
    }

    fileprivate func negated() throws -> Term {
        let (path, isNegative, summand) = try summands()
        let (negated, overflow) = Int64.zero.subtractingReportingOverflow(summand)
        guard !overflow else { throw TranslationError("the sum is too large") }
        return .sum(path, isNegative: !isNegative, negated)
    }
}

// MARK: - Ranges

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.Range: TranslatableExpression {
    func term(_ translator: PredicateTranslator) throws -> Term {
        .range(lower: try translator.term(lower), upper: try translator.term(upper), isClosed: false)
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.ClosedRange: TranslatableExpression {
    func term(_ translator: PredicateTranslator) throws -> Term {
        .range(lower: try translator.term(lower), upper: try translator.term(upper), isClosed: true)
    }
}

@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
extension PredicateExpressions.RangeExpressionContains: TranslatableExpression {
    func term(_ translator: PredicateTranslator) throws -> Term {
        var range = try translator.term(self.range)
        if case .constant(let value as any BoundedRange) = range { range = value.term }
        return .truth(try translator.term(element).isIn(range))
    }
}

extension Term {
    /// That the term lies in a range.
    func isIn(_ range: Term) throws -> Clause {
        guard case .range(let lower, let upper, let isClosed) = range else {
            throw TranslationError("it is not a range")
        }
        let isAbove = try lower.map { try Term.compare(.greaterOrEqual, self, $0) }
        let isBelow = try upper.map { try Term.compare(isClosed ? .lessOrEqual : .less, self, $0) }
        return (isAbove ?? .constant(true)) && (isBelow ?? .constant(true))
    }
}

/// A range of Swift.
protocol BoundedRange {
    /// The range with its bounds as constants.
    var term: Term { get }
}

extension Range: BoundedRange {
    var term: Term { .range(lower: Term(value: lowerBound), upper: Term(value: upperBound), isClosed: false) }
}

extension ClosedRange: BoundedRange {
    var term: Term { .range(lower: Term(value: lowerBound), upper: Term(value: upperBound), isClosed: true) }
}

extension PartialRangeFrom: BoundedRange {
    var term: Term { .range(lower: Term(value: lowerBound), upper: nil, isClosed: true) }
}

extension PartialRangeThrough: BoundedRange {
    var term: Term { .range(lower: nil, upper: Term(value: upperBound), isClosed: true) }
}

extension PartialRangeUpTo: BoundedRange {
    var term: Term { .range(lower: nil, upper: Term(value: upperBound), isClosed: false) }
}

// MARK: - Sequences

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

// MARK: - Text

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
