#if TansuSync
import TansuBSON
import TansuTestSupport

/// Random selectors over the fields of ``RandomValues``.
struct RandomSelectors {
    var random: SeededGenerator
    /// Whether operators whose answer depends on the absence of a field are left out.
    var requiresFields = false

    static let paths = ["a", "b", "c", "a.b", "x.0", "c.y", "_id", "a.b.c"]

    mutating func documents(_ count: Int) -> [BSONDocument] {
        (0..<count).map { number in
            var document = RandomValues.document(depth: 3, using: &random)
            document["_id"] = .string("d\(number)")
            return document
        }
    }

    mutating func selector(depth: Int = 3) -> BSONDocument {
        guard depth > 0, Int.random(in: 0..<3, using: &random) > 0 else {
            return BSONDocument(
                Self.paths.shuffled(using: &random).prefix(.random(in: 1...2, using: &random))
                    .map { ($0, condition(depth: depth)) })
        }
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return ["$not": .document(selector(depth: depth - 1))]
        case 1: return ["$or": list(depth: depth - 1)]
        case 2: return ["$nor": list(depth: depth - 1)]
        default: return ["$and": list(depth: depth - 1)]
        }
    }

    private mutating func list(depth: Int) -> BSONValue {
        .array(
            BSONArray((0..<Int.random(in: 1...3, using: &random)).map { _ in .document(selector(depth: depth)) }))
    }

    private mutating func condition(depth: Int) -> BSONValue {
        if depth > 0, Int.random(in: 0..<8, using: &random) == 0 {
            let inner = condition(depth: depth - 1)
            return ["$not": inner.documentValue == nil ? ["$eq": inner] : inner]
        }
        if Int.random(in: 0..<6, using: &random) == 0 { return RandomValues.value(depth: 0, using: &random) }
        var operators: [(String, BSONValue)] = []
        for _ in 0..<Int.random(in: 1...2, using: &random) { operators.append(operation(depth: depth)) }
        return .document(BSONDocument(operators))
    }

    private mutating func operation(depth: Int) -> (String, BSONValue) {
        let name =
            [
                "$lt", "$lte", "$eq", "$ne", "$gte", "$gt", "$in", "$nin", "$size", "$type", "$mod", "$elemMatch",
                "$allMatch", "$keyMapMatch", "$exists",
            ].randomElement(using: &random) ?? "$eq"
        switch name {
        case "$in", "$nin": return (name, .array(BSONArray(RandomValues.list(depth: 1, using: &random))))
        case "$size": return (name, .int32(.random(in: 0...3, using: &random)))
        case "$type":
            let types = ["null", "boolean", "number", "string", "array", "object"]
            return (name, .string(types.randomElement(using: &random) ?? ""))
        case "$mod":
            return (
                name, [.int32(.random(in: 1...3, using: &random)), .int32(.random(in: -1...2, using: &random))]
            )
        case "$elemMatch", "$allMatch", "$keyMapMatch": return (name, inner(depth: 1))
        case "$exists":
            if requiresFields { return ("$gte", nil) }
            return (name, .bool(.random(using: &random)))
        default: return (name, RandomValues.value(depth: 2, using: &random))
        }
    }

    /// A condition on the elements of an array.
    private mutating func inner(depth: Int) -> BSONValue {
        let value = RandomValues.value(depth: 1, using: &random)
        switch Int.random(in: 0..<(depth > 0 ? 7 : 3), using: &random) {
        case 0: return ["$gt": value]
        case 1: return ["$eq": value]
        case 2: return ["a": ["$exists": .bool(.random(using: &random))]]
        case 3: return ["$not": inner(depth: depth - 1)]
        case 4: return ["$or": [inner(depth: depth - 1), inner(depth: depth - 1)]]
        case 5: return ["$nor": [inner(depth: depth - 1)]]
        default: return ["b": ["$lte": value]]
        }
    }
}
#endif
