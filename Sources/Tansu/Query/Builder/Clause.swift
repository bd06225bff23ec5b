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
    case all([Clause])
    case any([Clause])
    case not(Clause)
    /// It cannot be expressed; the error is thrown when the query is made.
    case failure(TansuError)
}

extension Clause {
    static func && (a: Clause, b: Clause) -> Clause {
        switch (a, b) {
        case (.failure, _): a
        case (_, .failure): b
        case (_, .constant(true)), (.constant(false), _): a
        case (.constant(true), _), (_, .constant(false)): b
        case (.all(let a), .all(let b)): .all(a + b)
        case (.all(let a), _): .all(a + [b])
        case (_, .all(let b)): .all([a] + b)
        default: .all([a, b])
        }
    }

    static func || (a: Clause, b: Clause) -> Clause {
        switch (a, b) {
        case (.failure, _): a
        case (_, .failure): b
        case (_, .constant(false)), (.constant(true), _): a
        case (.constant(false), _), (_, .constant(true)): b
        case (.any(let a), .any(let b)): .any(a + b)
        case (.any(let a), _): .any(a + [b])
        case (_, .any(let b)): .any([a] + b)
        default: .any([a, b])
        }
    }

    static prefix func ! (clause: Clause) -> Clause {
        switch clause {
        case .constant(let value): .constant(!value)
        case .not(let inner): inner
        case .failure: clause
        default: .not(clause)
        }
    }
}
