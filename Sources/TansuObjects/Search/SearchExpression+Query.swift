import Tansu

extension Search.Expression {
    /// The query for the expression.
    ///
    /// - Throws: `TansuError` with `.invalidArgument`.
    var query: BSONDocument {
        get throws {
            switch content {
            case .comparison(let attribute, let match, let ignoring):
                return try match.condition(on: attribute.queryPath, ignoring)
            case .query(let query): return query
            case .all(let parts):
                return parts.isEmpty ? [:] : ["$and": BSONValue(try parts.map { .document(try $0.query) })]
            case .any(let parts):
                // Nothing is found by none of them.
                return parts.isEmpty
                    ? ["$nor": [[:]]] : ["$or": BSONValue(try parts.map { .document(try $0.query) })]
            case .not(let expression): return ["$nor": [.document(try expression.query)]]
            case .tooDeep:
                throw TansuError(
                    .invalidArgument,
                    "The expression of a search has more than \(Self.maxDepth) levels; join its parts on one level")
            }
        }
    }
}

extension Search.Attribute {
    /// The path that a query has for it.
    var queryPath: String {
        get throws {
            switch self {
            case .path(let path):
                try path.checkAttribute()
                guard path.first != "$", path != "*", path != "**", !path.hasPrefix("**.") else {
                    throw TansuError(
                        .invalidArgument,
                        "The path of an attribute has a meaning of its own in a query; use .any or .named, or escape it",
                        context: path)
                }
                return path
            case .named(let name):
                try name.checkAttribute()
                return "**."
                    + name.reduce(into: "") { text, character in
                        if character == "." || character == "\\" || character == "*" { text.append("\\") }
                        text.append(character)
                    }
            case .any: return "**"
            }
        }
    }
}

extension String {
    /// Throws for what names no attribute.
    func checkAttribute() throws {
        guard !isEmpty, !utf8.contains(0) else {
            throw TansuError(
                .invalidArgument,
                "The name of an attribute is empty or has a NUL character; name one that documents have",
                context: self)
        }
    }
}

extension Search.Match {
    fileprivate func condition(on path: String, _ ignoring: Search.Ignoring) throws -> BSONDocument {
        switch self {
        case .equal(let value): return try Self.equality(value, path, ignoring)
        case .notEqual(let value): return ["$nor": [.document(try Self.equality(value, path, ignoring))]]
        case .begins(let text): return Self.text("$begin", text, path, ignoring) { AccentFolding.begins($0) }
        case .contains(let text): return Self.text("$contains", text, path, ignoring) { AccentFolding.contains($0) }
        case .ends(let text): return Self.text("$endsWith", text, path, ignoring) { AccentFolding.ends($0) }
        case .greater(let value): return try Self.comparison("$gt", [value], path, ignoring)
        case .greaterOrEqual(let value): return try Self.comparison("$gte", [value], path, ignoring)
        case .less(let value): return try Self.comparison("$lt", [value], path, ignoring)
        case .lessOrEqual(let value): return try Self.comparison("$lte", [value], path, ignoring)
        case .between(let one, let other): return try Self.comparison("$bt", [one, other], path, ignoring)
        case .in(let values):
            // Of text that is compared otherwise, and of regular expressions, which $in takes for patterns, one by one.
            let single = values.filter { $0.isText && !ignoring.isEmpty || $0.regularExpressionValue != nil }
            let others = values.filter { !single.contains($0) }
            for value in others { try value.checkDate() }
            let list: BSONDocument = [path: ["$in": BSONValue(others)]]
            guard !single.isEmpty else { return list }
            let parts = try single.map { BSONValue.document(try Self.equality($0, path, ignoring)) }
            return ["$or": BSONValue(others.isEmpty ? parts : parts + [.document(list)])]
        case .exists: return [path: ["$exists": true]]
        case .notExists: return [path: ["$exists": false]]
        }
    }

    private static func equality(
        _ value: BSONValue, _ path: String, _ ignoring: Search.Ignoring
    ) throws -> BSONDocument {
        try value.checkDate()
        guard case .string(let text) = value else { return [path: ["$eq": value]] }
        return Self.text("$eq", text, path, ignoring) { AccentFolding.equals($0) }
    }

    private static func text(
        _ name: String, _ text: String, _ path: String, _ ignoring: Search.Ignoring, _ pattern: (String) -> String
    ) -> BSONDocument {
        if ignoring.contains(.accents) {
            var regex: BSONDocument = ["$regex": .string(pattern(text))]
            if ignoring.contains(.case) { regex["$options"] = "i" }
            return [path: .document(regex)]
        }
        let condition: BSONDocument = [name: .string(text)]
        return [path: .document(ignoring.contains(.case) ? ["$icase": .document(condition)] : condition)]
    }

    private static func comparison(
        _ name: String, _ values: [BSONValue], _ path: String, _ ignoring: Search.Ignoring
    ) throws -> BSONDocument {
        for value in values {
            try value.checkDate()
            switch value {
            case .null, .undefined, .minKey, .maxKey, .regularExpression:
                throw TansuError(
                    .invalidArgument, "A comparison by order with \"\(value)\" finds nothing of its kind; give a value",
                    context: path)
            default: break
            }
        }
        let isText = values.allSatisfy(\.isText)
        guard !(isText && ignoring.contains(.accents)) else {
            throw TansuError(
                .invalidArgument, "A comparison by order cannot ignore accents; use .case, or none", context: path)
        }
        let condition: BSONDocument = [name: values.count == 1 ? values[0] : BSONValue(values)]
        return [path: .document(isText && ignoring.contains(.case) ? ["$icase": .document(condition)] : condition)]
    }
}

extension BSONValue {
    fileprivate var isText: Bool { stringValue != nil }

    /// Throws for what a date that is no number, or beyond all dates, becomes.
    fileprivate func checkDate() throws {
        switch self {
        case .date(.min), .date(.max):
            throw TansuError(.invalidArgument, "A date of a search is out of range; give one that can be stored")
        default: break
        }
    }
}
