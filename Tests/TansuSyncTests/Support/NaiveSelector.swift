#if TansuSync
import TansuBSON

@testable import TansuSync

/// An evaluator of selectors that rewrites nothing: it reads the JSON as it is, for each document anew.
///
/// It shares the order of values with the library, and nothing else.
struct NaiveSelector {
    let collation: Collation

    /// What CouchDB fails on inside of an operator that takes a failure as no match.
    private struct Unknown: Error {}

    func matches(_ selector: BSONDocument, _ document: BSONDocument) throws -> Bool {
        try holds(.document(selector), [], .document(document), isNegated: false, usesTerms: false)
    }

    // MARK: Conditions, in which a negation does not make a missing field match

    private func holds(
        _ condition: BSONValue, _ path: [String], _ root: BSONValue, isNegated: Bool, usesTerms: Bool
    ) throws -> Bool {
        guard case .document(let members) = condition, !members.isEmpty else {
            return try test("$eq", condition, path, root, isNegated, usesTerms)
        }
        // A list in which everything must hold; of the negation, something.
        let results = try members.map { key, argument in
            switch key {
            case "$and", "$or":
                let list = try argument.elements.map {
                    try holds($0, path, root, isNegated: isNegated, usesTerms: usesTerms)
                }
                return list.isEmpty || ((key == "$and") != isNegated ? !list.contains(false) : list.contains(true))
            case "$nor":
                let list = try argument.elements.map {
                    try holds($0, path, root, isNegated: !isNegated, usesTerms: usesTerms)
                }
                return list.isEmpty || (isNegated ? list.contains(true) : !list.contains(false))
            case "$not": return try holds(argument, path, root, isNegated: !isNegated, usesTerms: usesTerms)
            case _ where key.hasPrefix("$"): return try test(key, argument, path, root, isNegated, usesTerms)
            default:
                return try holds(
                    argument, path + key.split(separator: ".").map { String($0) }, root, isNegated: isNegated,
                    usesTerms: usesTerms)
            }
        }
        return isNegated ? results.contains(true) : !results.contains(false)
    }

    private func test(
        _ name: String, _ argument: BSONValue, _ path: [String], _ root: BSONValue, _ isNegated: Bool,
        _ usesTerms: Bool
    ) throws -> Bool {
        var value = root
        for key in path {
            if case .document(let document) = value {
                guard let next = document[key] else { return name == "$exists" && argument.boolValue == isNegated }
                value = next
            } else if case .array(let array) = value, let position = Int(key), let next = array[position] {
                value = next
            } else {
                return false
            }
        }
        return try operate(name, argument, value, usesTerms || path == ["_id"]) != isNegated
    }

    // MARK: Conditions inside of $elemMatch and its like, in which a negation turns everything round

    private func plain(_ condition: BSONValue, _ value: BSONValue, _ usesTerms: Bool) throws -> Bool {
        guard case .document(let members) = condition, !members.isEmpty else {
            return try operate("$eq", condition, value, usesTerms)
        }
        for (key, argument) in members {
            let result: Bool
            switch key {
            case "$and": result = try argument.elements.allSatisfy { try plain($0, value, usesTerms) }
            case "$or":
                let list = argument.elements
                result = try list.isEmpty || list.contains { try plain($0, value, usesTerms) }
            case "$nor": throw Unknown()
            case "$not": result = try !plain(argument, value, usesTerms)
            case _ where key.hasPrefix("$"): result = try operate(key, argument, value, usesTerms)
            default:
                // Only one level of fields is generated here.
                if case .document(let document) = value, let inner = document[key] {
                    result = try plain(argument, inner, usesTerms)
                } else {
                    result = isMissing(key, value) && argument == ["$exists": false]
                }
            }
            if !result { return false }
        }
        return true
    }

    private func isMissing(_ key: String, _ value: BSONValue) -> Bool {
        if case .document = value { true } else { false }
    }

    // MARK: Operators

    private func operate(
        _ name: String, _ argument: BSONValue, _ value: BSONValue, _ usesTerms: Bool
    ) throws -> Bool {
        let order = { (other: BSONValue, value: BSONValue) throws -> Int in
            try (usesTerms ? TermOrder.order(value, other) : collation.order(value, other)).rawValue
        }
        switch name {
        case "$lt": return try order(argument, value) < 0
        case "$lte": return try order(argument, value) <= 0
        case "$eq": return try order(argument, value) == 0
        case "$ne": return try order(argument, value) != 0
        case "$gte": return try order(argument, value) >= 0
        case "$gt": return try order(argument, value) > 0
        case "$in", "$nin":
            let values = value.arrayValue.map { Array($0) } ?? [value]
            let isIn = try values.contains { value in
                try argument.elements.contains { try order($0, value) == 0 }
            }
            return isIn == (name == "$in")
        case "$exists": return argument == true
        case "$size": return value.arrayValue.map { $0.count == argument.intValue } ?? false
        case "$type":
            let names: [BSONType: String] = [
                .null: "null", .bool: "boolean", .int32: "number", .double: "number", .string: "string",
                .array: "array", .document: "object",
            ]
            return names[value.type] == argument.stringValue
        case "$mod":
            guard case .int32(let number) = value, case .int32(let divisor)? = argument.elements.first,
                case .int32(let rest)? = argument.elements.last
            else { return false }
            return number % divisor == rest
        case "$elemMatch":
            guard let array = value.arrayValue else { return false }
            return (try? array.contains { try plain(argument, $0, usesTerms) }) ?? false
        case "$allMatch":
            guard let array = value.arrayValue, !array.isEmpty else { return false }
            return (try? array.allSatisfy { try plain(argument, $0, usesTerms) }) ?? false
        case "$keyMapMatch":
            guard let document = value.documentValue else { return false }
            return (try? document.keys.contains { try plain(argument, .string($0), usesTerms) }) ?? false
        default: throw Vectors.Problem(text: "The operator \(name) is not known")
        }
    }
}
#endif
