#if TansuSync
    import TansuBSON

    extension Mango {
        /// A part of a selector.
        indirect enum Condition: Sendable {
            /// The empty selector, which every document matches.
            case everything
            case and([Condition])
            case or([Condition])
            case not(Condition)
            /// Only below `$elemMatch` and its like: everywhere else the normalisation removes it.
            case nor([Condition])
            /// A condition on a field, or on the value itself when the path is empty.
            case field(FieldPath, Condition)
            case test(Test)
        }

        /// A test of one value.
        indirect enum Test: Sendable {
            case compare(Comparison, BSONValue)
            case isIn([BSONValue])
            case isNotIn([BSONValue])
            case all([BSONValue])
            case exists(Bool)
            case type(String)
            case remainder(divisor: Int64, Int64)
            case pattern(Pattern)
            case beginsWith(String)
            case size(Int64)
            case elements(Quantifier, Condition)
        }

        /// An operator that compares.
        enum Comparison: String, Sendable {
            case less = "$lt"
            case lessOrEqual = "$lte"
            case equal = "$eq"
            case notEqual = "$ne"
            case greaterOrEqual = "$gte"
            case greater = "$gt"

            var negated: Comparison {
                switch self {
                case .less: .greaterOrEqual
                case .lessOrEqual: .greater
                case .equal: .notEqual
                case .notEqual: .equal
                case .greaterOrEqual: .less
                case .greater: .lessOrEqual
                }
            }

            func holds(_ order: Collation.Order) -> Bool {
                switch self {
                case .less: order == .before
                case .lessOrEqual: order != .after
                case .equal: order == .same
                case .notEqual: order != .same
                case .greaterOrEqual: order != .before
                case .greater: order == .after
                }
            }
        }

        /// An operator that applies a condition to the parts of a value.
        enum Quantifier: String, Sendable {
            /// Some element of an array.
            case element = "$elemMatch"
            /// Every element of an array that is not empty.
            case everyElement = "$allMatch"
            /// Some key of an object.
            case key = "$keyMapMatch"
        }
    }
#endif
