#if TansuSync
    import TansuBSON

    extension Mango.Condition {
        /// The condition as CouchDB's `_explain` shows it.
        var json: BSONDocument {
            switch self {
            case .everything: [:]
            case .and(let conditions): ["$and": Self.list(conditions)]
            case .or(let conditions): ["$or": Self.list(conditions)]
            case .nor(let conditions): ["$nor": Self.list(conditions)]
            case .not(let condition): ["$not": .document(condition.json)]
            case .field(let path, let condition): BSONDocument([(path.text, .document(condition.json))])
            case .test(let test): BSONDocument([test.json])
            }
        }

        private static func list(_ conditions: [Self]) -> BSONValue {
            .array(BSONArray(conditions.map { .document($0.json) }))
        }
    }

    extension Mango.Test {
        fileprivate var json: (String, BSONValue) {
            switch self {
            case .compare(let comparison, let value): (comparison.rawValue, value)
            case .isIn(let values): ("$in", .array(BSONArray(values)))
            case .isNotIn(let values): ("$nin", .array(BSONArray(values)))
            case .all(let values): ("$all", .array(BSONArray(values)))
            case .exists(let exists): ("$exists", .bool(exists))
            case .type(let name): ("$type", .string(name))
            case .remainder(let divisor, let rest):
                ("$mod", .array(BSONArray([.int64(divisor), .int64(rest)])))
            case .pattern(let pattern): ("$regex", .string(pattern.text))
            case .beginsWith(let prefix): ("$beginsWith", .string(prefix))
            case .size(let size): ("$size", .int64(size))
            case .elements(let quantifier, let condition): (quantifier.rawValue, .document(condition.json))
            }
        }
    }
#endif
