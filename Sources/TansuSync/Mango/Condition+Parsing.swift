#if TansuSync
    import TansuBSON

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
#endif
