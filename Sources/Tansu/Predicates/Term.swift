/// What a part of a predicate stands for, in the eyes of a query.
///
/// The bridge goes through a predicate once, from the inside to the outside, and makes every expression a term. A term
/// that is true or false becomes a clause; anything that no query can say throws.
indirect enum Term {
    /// A value that does not depend on the document; `nil` for nil, never an optional inside.
    case constant(Any?)
    /// What is stored at a place; nil where nothing is.
    case field(FieldPlace, any Any.Type)
    /// True or false, as a clause says.
    case truth(Clause)
    /// One of several terms: exactly one of the clauses holds.
    case choice([(Clause, Term)])
    /// The number of elements of the array at a place.
    case count(FieldPlace)
    /// The elements of the array at a place that meet a clause.
    case filtered(FieldPlace, Clause, any Any.Type)
    /// A range; a bound that is missing is none.
    case range(lower: Term?, upper: Term?, isClosed: Bool)
    /// The whole number at a place, or its negative, plus a number.
    case sum(FieldPlace, isNegative: Bool, Int64)
    /// What the whole number at a place leaves when divided.
    case remainder(FieldPlace, divisor: Int64)
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

    /// The same done to what the term may be.
    func map(_ transform: (Term) throws -> Term) throws -> Term {
        guard case .choice(let options) = self else { return try transform(self) }
        return .choice(try options.map { ($0, try $1.map(transform)) })
    }

    /// What holds of the term: of a choice, what holds of the one that is chosen.
    func clause(_ clause: (Term) throws -> Clause) throws -> Clause {
        guard case .choice(let options) = self else { return try clause(self) }
        return try options.reduce(.constant(false)) { try $0 || ($1.0 && $1.1.clause(clause)) }
    }
}
