#if TansuSync
    extension Mango.Condition {
        /// The condition with its negations at the leaves, where an index can see through them.
        ///
        /// That is more than another spelling: a field that is missing matches neither `{"$gt": 1}` nor its negation. As in
        /// CouchDB, what is below `$elemMatch` and its like stays as it is.
        var normalized: Self {
            switch self {
            case .not(let condition): condition.negated
            case .nor(let conditions): .and(conditions.map(\.negated))
            case .and(let conditions): .and(conditions.map(\.normalized))
            case .or(let conditions): .or(conditions.map(\.normalized))
            case .everything, .field, .test: self
            }
        }

        private var negated: Self {
            switch self {
            case .not(let condition): condition.normalized
            case .nor(let conditions): .or(conditions.map(\.normalized))
            case .and(let conditions): .or(conditions.map(\.negated))
            case .or(let conditions): .and(conditions.map(\.negated))
            case .field(let path, let condition): .field(path, condition.negated)
            case .test(let test): test.negated.map { .test($0) } ?? .not(self)
            case .everything: .not(self)
            }
        }
    }

    extension Mango.Test {
        /// The test that holds where this one does not, or nil when no operator has that meaning.
        fileprivate var negated: Self? {
            switch self {
            case .compare(let comparison, let value): .compare(comparison.negated, value)
            case .isIn(let values): .isNotIn(values)
            case .isNotIn(let values): .isIn(values)
            case .exists(let exists): .exists(!exists)
            default: nil
            }
        }
    }
#endif
