/// The meaning of a part of a predicate in a query.
///
/// The translator visits a predicate once, bottom up, and makes every expression a term. A term that is true or false
/// becomes a clause; expressions that a query cannot express throw.
indirect enum Term {
    /// A value that does not depend on the document; `nil` for nil, never an optional inside.
    case constant(Any?)
    /// The value at a path; nil where there is none.
    case field(FieldPath, any Any.Type)
    /// True or false, as a clause says.
    case truth(Clause)
    /// One of several terms: exactly one of the clauses holds.
    case choice([(Clause, Term)])
    /// The number of elements of the array at a path.
    case count(FieldPath)
    /// The elements of the array at a path that match a clause.
    case filtered(FieldPath, Clause, any Any.Type)
    /// A range; a missing bound is infinite.
    case range(lower: Term?, upper: Term?, isClosed: Bool)
    /// The whole number at a path, or its negative, plus a number.
    case sum(FieldPath, isNegative: Bool, Int64)
    /// The remainder of the whole number at a path when divided.
    case remainder(FieldPath, divisor: Int64)
}

extension Term {
    /// A constant of any value, be it an optional in an optional.
    init(value: Any) {
        if let optional = value as? any OptionalValue {
            self = optional.content.map(Term.init(value:)) ?? .constant(nil)
        } else {
            self = .constant(value)
        }
    }

    /// The value of a constant, `nil` when it is none; nil itself is `.some(nil)`.
    var constantValue: Any?? {
        if case .constant(let value) = self { .some(value) } else { nil }
    }

    /// The term with a transformation of every alternative.
    func map(_ transform: (Term) throws -> Term) throws -> Term {
        guard case .choice(let options) = self else { return try transform(self) }
        return .choice(try options.map { ($0, try $1.map(transform)) })
    }

    /// A clause about the term: for a choice, about the chosen alternative.
    func clause(_ clause: (Term) throws -> Clause) throws -> Clause {
        guard case .choice(let options) = self else { return try clause(self) }
        return try options.reduce(.constant(false)) { try $0 || ($1.0 && $1.1.clause(clause)) }
    }
}

// MARK: - Comparing

extension Term {
    /// That the term is true.
    func isTrue() throws -> Clause {
        try clause { term in
            switch term {
            case .truth(let clause): clause
            case .constant(let value): .constant(value as? Bool == true)
            case .field(let path, _): .compare(path, .equal, true)
            default: throw TranslationError("it is not true or false")
            }
        }
    }

    /// That two terms compare so.
    static func compare(_ relation: Relation, _ a: Term, _ b: Term) throws -> Clause {
        try a.asChoice.clause { a in
            try b.asChoice.clause { b in try compareSimple(relation, a, b) }
        }
    }

    /// What is true or false, as one of these two values.
    private var asChoice: Term {
        if case .truth(let clause) = self {
            .choice([(clause, .constant(true)), (!clause, .constant(false))])
        } else {
            self
        }
    }

    private static func compareSimple(_ relation: Relation, _ a: Term, _ b: Term) throws -> Clause {
        switch (a, b) {
        case (.truth, _), (_, .truth): return try compare(relation, a, b)
        case (.constant(let a), .constant(let b)): return .constant(try compareConstants(relation, a, b))
        case (_, .constant(let value)): return try a.compare(relation, value)
        case (.constant(let value), _): return try b.compare(relation.swapped, value)
        case (.field(let path, let type), .field) where type is Bool.Type || type is Bool?.Type:
            return try compare(relation, flag(path), b)
        default: throw TranslationError("a query can compare a field with a value, not with another field")
        }
    }

    /// A stored `Bool` as one of the few values that it may have, which can be compared with anything.
    private static func flag(_ path: FieldPath) -> Term {
        .choice([
            (.compare(path, .equal, true), .constant(true)), (.compare(path, .equal, false), .constant(false)),
            (!.isPresent(path), .constant(nil)),
        ])
    }

    private func compare(_ relation: Relation, _ value: Any?) throws -> Clause {
        switch self {
        case .field(let path, _):
            return .compare(
                path, relation,
                forms: try value.map { try storedForms($0, at: path, inOrder: relation.isOrder) } ?? [.null])
        case .count(let path):
            guard let number = value as? Int else {
                throw TranslationError("the number of elements can be compared only with an Int")
            }
            return .count(path, relation, number)
        case .sum(let path, let isNegative, let summand):
            return try Self.compareSum(path, isNegative, summand, relation, value)
        case .remainder(let path, let divisor):
            guard relation == .equal || relation == .notEqual, let rest = Self.wholeNumber(value) else {
                throw TranslationError("a remainder can be compared only with == and !=")
            }
            let clause = Clause.test(path, ["$mod": [.int64(divisor), .int64(rest)]])
            return relation == .equal ? clause : !clause
        default: throw TranslationError("it cannot be compared")
        }
    }

    /// Of ±field + summand against a value: the field alone against what is left.
    private static func compareSum(
        _ path: FieldPath, _ isNegative: Bool, _ summand: Int64, _ relation: Relation, _ value: Any?
    ) throws -> Clause {
        guard let whole = wholeNumber(value) else {
            throw TranslationError("a sum can be compared only with a whole number")
        }
        let (rest, overflow) = whole.subtractingReportingOverflow(summand)
        let (negated, negationOverflow) = Int64.zero.subtractingReportingOverflow(rest)
        guard !overflow && !(isNegative && negationOverflow) else { throw TranslationError("the sum is too large") }
        return .compare(path, isNegative ? relation.swapped : relation, .int64(isNegative ? negated : rest))
    }

    static func wholeNumber(_ value: Any?) -> Int64? {
        (value as? any FixedWidthInteger).flatMap { Int64(exactly: $0) }
    }

    private static func compareConstants(_ relation: Relation, _ a: Any?, _ b: Any?) throws -> Bool {
        guard let a, let b else {
            let isEqual = a == nil && b == nil
            return relation == .equal ? isEqual : relation == .notEqual && !isEqual
        }
        func equals<Value: Equatable>(_ a: Value) -> Bool? { (b as? Value).map { a == $0 } }
        func compares<Value: Comparable>(_ a: Value) -> Bool? { (b as? Value).map { relation.holds(a, $0) } }
        let holds: Bool? =
            switch relation {
            case .equal: (a as? any Equatable).flatMap { equals($0) }
            case .notEqual: (a as? any Equatable).flatMap { equals($0) }.map { !$0 }
            default: (a as? any Comparable).flatMap { compares($0) }
            }
        guard let holds else { throw TranslationError("values of type \(type(of: a)) cannot be compared") }
        return holds
    }
}

/// The forms in which a document may hold a value at a path, if documents compare such values as Swift does.
func storedForms(_ value: Any, at path: FieldPath, inOrder: Bool) throws -> [BSONValue] {
    if inOrder {
        guard let value = value as? any QueryComparable, !(value is any OptionalValue) else {
            throw TranslationError("values of type \"\(type(of: value))\" do not conform to QueryComparable")
        }
        try QueryCoding.checkOrder(of: type(of: value), at: path)
        return [try QueryCoding.forms(of: value, at: path)[0]]
    }
    if let value = value as? any QueryValue { return try QueryCoding.forms(of: value, at: path) }
    guard let raw = value as? any RawRepresentable, isQueryValue(raw), let value = value as? any Encodable else {
        throw TranslationError("values of type \"\(type(of: value))\" do not conform to QueryValue")
    }
    return try QueryCoding.forms(of: value, at: path)
}

private func isQueryValue<Raw: RawRepresentable>(_ value: Raw) -> Bool {
    Raw.RawValue.self is any QueryValue.Type
}
