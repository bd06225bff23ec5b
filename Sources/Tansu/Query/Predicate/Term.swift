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
