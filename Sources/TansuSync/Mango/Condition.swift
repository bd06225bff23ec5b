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

// MARK: - Parsing

extension Mango {
    /// Reads a selector: makes implicit operators explicit and joins the names of nested fields.
    struct ConditionParser {
        /// How many conditions a selector can have.
        static let maximumCount = 10_000
        /// How deep operators and fields can be nested, so that the stack of any thread is enough.
        static let maximumDepth = 64

        private var count = 0

        /// The condition of a value at a path, which is empty for the value itself.
        mutating func parse(_ value: BSONValue, at path: String, depth: Int) throws(QueryError) -> Condition {
            guard depth <= Self.maximumDepth else {
                throw QueryError(
                    "invalid_selector", "The selector is nested deeper than \(Self.maximumDepth) levels")
            }
            count += 1
            guard count <= Self.maximumCount else {
                throw QueryError("invalid_selector", "The selector has more than \(Self.maximumCount) conditions")
            }
            guard case .document(let document) = value, !document.isEmpty else {
                return try leaf(.compare(.equal, value), at: path)
            }
            let members = Array(document)
            if members.count == 1 {
                return try member(members[0].key, members[0].value, at: path, depth: depth)
            }
            var conditions: [Condition] = []
            for (key, value) in members {
                conditions.append(try member(key, value, at: path, depth: depth))
            }
            return .and(conditions)
        }

        private mutating func member(
            _ key: String, _ value: BSONValue, at path: String, depth: Int
        ) throws(QueryError) -> Condition {
            guard key.utf8.first == UInt8(ascii: "$") else {
                return try parse(value, at: path.isEmpty ? key : "\(path).\(key)", depth: depth + 1)
            }
            switch key {
            case "$and": return .and(try list(key, value, at: path, depth: depth))
            case "$or": return .or(try list(key, value, at: path, depth: depth))
            case "$nor": return .nor(try list(key, value, at: path, depth: depth))
            case "$not":
                guard case .document = value else { throw .badArgument(key, value) }
                return .not(try parse(value, at: path, depth: depth + 1))
            default:
                return try leaf(try test(key, value, depth: depth), at: path)
            }
        }

        private func leaf(_ test: Test, at path: String) throws(QueryError) -> Condition {
            .field(path.isEmpty ? .itself : try FieldPath(path), .test(test))
        }

        private mutating func list(
            _ key: String, _ value: BSONValue, at path: String, depth: Int
        ) throws(QueryError) -> [Condition] {
            guard case .array(let values) = value else { throw .badArgument(key, value) }
            var conditions: [Condition] = []
            for value in values { conditions.append(try parse(value, at: path, depth: depth + 1)) }
            return conditions
        }

        private mutating func test(_ key: String, _ value: BSONValue, depth: Int) throws(QueryError) -> Test {
            if let comparison = Comparison(rawValue: key) { return .compare(comparison, value) }
            if let quantifier = Quantifier(rawValue: key) {
                guard case .document = value else { throw .badArgument(key, value) }
                return .elements(quantifier, try parse(value, at: "", depth: depth + 1))
            }
            switch (key, value) {
            case ("$in", .array(let values)): return .isIn(Array(values))
            case ("$nin", .array(let values)): return .isNotIn(Array(values))
            case ("$all", .array(let values)): return .all(Array(values))
            case ("$exists", .bool(let exists)): return .exists(exists)
            case ("$type", .string(let name)): return .type(name)
            case ("$beginsWith", .string(let prefix)): return .beginsWith(prefix)
            case ("$size", _):
                guard let size = value.wholeNumber, size >= 0 else { break }
                return .size(size)
            case ("$mod", .array(let values)):
                let numbers = values.map(\.wholeNumber)
                // CouchDB fails with status 500 when it divides by 0.
                guard numbers.count == 2, let divisor = numbers[0], let rest = numbers[1], divisor != 0 else {
                    break
                }
                return .remainder(divisor: divisor, rest)
            case ("$regex", .string(let text)):
                guard let pattern = Pattern(text) else { break }
                return .pattern(pattern)
            case ("$in", _), ("$nin", _), ("$all", _), ("$exists", _), ("$type", _),
                ("$mod", _),
                ("$regex", _):
                break
            case ("$beginsWith", _): throw QueryError("invalid_operator", "Invalid operator: $beginsWith")
            case ("$text", .string), ("$text", .bool), ("$default", _):
                throw QueryError("not_supported", "Unsupported operator: $text")
            case ("$text", _):
                if JSONNumber(value) != nil { throw QueryError("not_supported", "Unsupported operator: $text") }
            case ("$where", _), ("$geoWithin", _), ("$geoIntersects", _), ("$near", _), ("$nearSphere", _):
                throw QueryError("not_supported", "Unsupported operator: \(key)")
            default:
                throw QueryError("invalid_operator", "Invalid operator: \(key)")
            }
            throw .badArgument(key, value)
        }
    }
}

extension BSONValue {
    /// The value of an integer: not of a number with a fraction, even if that is 0.
    var wholeNumber: Int64? {
        switch self {
        case .int32(let value): Int64(value)
        case .int64(let value): value
        default: nil
        }
    }
}

// MARK: - JSON

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

// MARK: - Negation

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
