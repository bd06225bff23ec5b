/// A query before it becomes a document. The key-path builder and the translation of `#Predicate` both make clauses.
///
/// Every clause is either true or false for a document, so that `not` is the exact complement.
indirect enum Clause: Sendable {
    case constant(Bool)
    /// Operators on the value at a path, all of which hold.
    case test(FieldPath, BSONDocument)
    /// Some element of the array at a path meets a clause, whose paths begin in that element.
    case element(FieldPath, Clause)
    /// A query document, for what no other clause expresses; its paths begin in the document or the element.
    case document(BSONDocument)
    case all(Clauses)
    case any(Clauses)
    case not(Clause)
    /// It cannot be expressed; the error is thrown when the query is made.
    case failure(TansuError)
}

/// Several clauses that are joined.
struct Clauses: Sendable {
    let list: [Clause]
    /// One more than the deepest of them.
    let depth: Int

    init(_ clause: Clause) {
        self.init(list: [clause], depth: clause.depth + 1)
    }

    private init(list: [Clause], depth: Int) {
        self.list = list
        self.depth = depth
    }

    static func + (a: Clauses, b: Clauses) -> Clauses {
        Clauses(list: a.list + b.list, depth: max(a.depth, b.depth))
    }
}

extension Clause {
    /// More levels than that are an error. A query document has at most 100, and one of them is two levels here at most,
    /// as in `!(a && !(b && c))`.
    private static let maxDepth = 200

    /// How many clauses are in one another.
    var depth: Int {
        switch self {
        case .constant, .test, .document, .failure: 0
        case .all(let clauses), .any(let clauses): clauses.depth
        case .element(_, let clause), .not(let clause): clause.depth + 1
        }
    }

    /// The clause, or an error instead of too many levels. Those are not kept: whatever visits them, such as freeing
    /// them, needs stack for each.
    var bounded: Clause {
        depth <= Self.maxDepth
            ? self
            : .failure(
                TansuError(
                    .tooLarge,
                    "The condition is nested too deep for a query, which has at most 100 levels; join fewer conditions in"
                        + " one another, or filter the results in Swift", context: "query"))
    }

    static func && (a: Clause, b: Clause) -> Clause {
        switch (a, b) {
        case (.failure, _): a
        case (_, .failure): b
        case (_, .constant(true)), (.constant(false), _): a
        case (.constant(true), _), (_, .constant(false)): b
        case (.all(let a), .all(let b)): .all(a + b)
        case (.all(let a), _): Clause.all(a + Clauses(b)).bounded
        case (_, .all(let b)): Clause.all(Clauses(a) + b).bounded
        default: Clause.all(Clauses(a) + Clauses(b)).bounded
        }
    }

    static func || (a: Clause, b: Clause) -> Clause {
        switch (a, b) {
        case (.failure, _): a
        case (_, .failure): b
        case (_, .constant(false)), (.constant(true), _): a
        case (.constant(false), _), (_, .constant(true)): b
        case (.any(let a), .any(let b)): .any(a + b)
        case (.any(let a), _): Clause.any(a + Clauses(b)).bounded
        case (_, .any(let b)): Clause.any(Clauses(a) + b).bounded
        default: Clause.any(Clauses(a) + Clauses(b)).bounded
        }
    }

    static prefix func ! (clause: Clause) -> Clause {
        switch clause {
        case .constant(let value): .constant(!value)
        case .not(let inner): inner
        case .failure: clause
        default: Clause.not(clause).bounded
        }
    }
}
