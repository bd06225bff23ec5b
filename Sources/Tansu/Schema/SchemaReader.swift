/// Compiles one keyword of a schema.
struct SchemaReader {
    let document: BSONDocument
    let keyword: String
    let value: BSONValue
    let path: [String]

    /// The rule of the keyword; `nil` for one that has none of its own.
    func rule() throws -> SchemaNode.Rule? {
        switch keyword {
        case "title", "description":
            _ = try string()
            return nil
        case "type": return .types(try names(of: Self.jsonTypes), keyword: keyword)
        case "bsonType": return .types(try names(of: Self.bsonTypes), keyword: keyword)
        case "enum": return try enumeration()
        case "required": return .required(try strings())
        case "properties", "additionalProperties": return try properties()
        case "minProperties": return .size(try size()...Int.max, of: .object, keyword: keyword)
        case "maxProperties": return .size(0...(try size()), of: .object, keyword: keyword)
        case "minLength": return .size(try size()...Int.max, of: .string, keyword: keyword)
        case "maxLength": return .size(0...(try size()), of: .string, keyword: keyword)
        case "minItems": return .size(try size()...Int.max, of: .array, keyword: keyword)
        case "maxItems": return .size(0...(try size()), of: .array, keyword: keyword)
        case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum": return try number()
        case "pattern": return try pattern()
        case "items": return try items()
        case "uniqueItems": return try bool() ? .uniqueItems : nil
        case "allOf": return .all(try schemas())
        case "anyOf": return .any(try schemas())
        case "oneOf": return .one(try schemas())
        case "not": return .not(try schema())
        default: throw fault("the keyword \"\(keyword)\" is unknown")
        }
    }

    private static let jsonTypes = ["object", "array", "string", "number", "integer", "boolean", "null"]

    private static let bsonTypes = [
        "object", "array", "string", "number", "double", "int", "long", "decimal", "bool", "date", "null", "objectId",
        "binData", "regex", "timestamp", "javascript", "javascriptWithScope", "symbol", "dbPointer", "undefined",
        "minKey",
        "maxKey",
    ]

    // MARK: Operands

    private func string() throws -> String {
        guard let text = value.stringValue else { throw fault("\"\(keyword)\" must be a string") }
        return text
    }

    private func bool() throws -> Bool {
        guard let flag = value.boolValue else { throw fault("\"\(keyword)\" must be true or false") }
        return flag
    }

    private func size() throws -> Int {
        guard let size = value.intValue, size >= 0 else { throw fault("\"\(keyword)\" must be 0 or more") }
        return size
    }

    private func strings() throws -> [String] {
        let list = value.arrayValue.map(Array.init) ?? []
        let strings = list.compactMap(\.stringValue)
        guard !list.isEmpty, strings.count == list.count, strings.bytewiseSet.count == list.count else {
            throw fault("\"\(keyword)\" must be a list of different strings")
        }
        return strings
    }

    private func names(of known: [String]) throws -> [String] {
        let names = try value.stringValue.map { [$0] } ?? strings()
        if let unknown = names.first(where: { !known.contains($0) }) {
            throw fault(
                "\"\(keyword)\" has the unknown type \"\(unknown)\"; use one of"
                    + " \(known.sorted().joined(separator: ", "))"
            )
        }
        return names
    }

    private func schema() throws -> SchemaNode {
        guard let inner = value.documentValue else { throw fault("\"\(keyword)\" must be a schema") }
        return try SchemaNode(inner, at: path)
    }

    private func schemas() throws -> [SchemaNode] {
        guard let list = value.arrayValue, !list.isEmpty else {
            throw fault("\"\(keyword)\" must be a list of schemas")
        }
        return try list.enumerated().map { number, inner in
            guard let inner = inner.documentValue else { throw fault("\"\(keyword)\" must be a list of schemas") }
            return try SchemaNode(inner, at: path + ["\(number)"])
        }
    }

    // MARK: Keywords

    private func enumeration() throws -> SchemaNode.Rule {
        guard let list = value.arrayValue, !list.isEmpty else { throw fault("\"enum\" must be a list of values") }
        // Inside a document values are compared whole, arrays too.
        let operands = list.map { BSONValue.document(["v": $0.withSortedKeys]) }
        return .values(try matcher(["$in": BSONValue(operands)]), list: list)
    }

    private func properties() throws -> SchemaNode.Rule? {
        // The two make one rule, which is compiled at the first of them.
        let both = document.contains(key: "properties") && document.contains(key: "additionalProperties")
        if both, document.keys.first(where: { $0 == "properties" || $0 == "additionalProperties" }) != keyword {
            return nil
        }
        var named: [BytewiseText: SchemaNode] = [:]
        if let list = document["properties"] {
            guard let list = list.documentValue else { throw fault("\"properties\" must be a document of schemas") }
            for (key, inner) in list {
                guard let inner = inner.documentValue else {
                    throw fault("the property \"\(key)\" must be a schema", at: path.dropLast() + ["properties", key])
                }
                named[BytewiseText(key)] = try SchemaNode(inner, at: path.dropLast() + ["properties", key])
            }
        }
        switch document["additionalProperties"] {
        case nil, .bool(true): return .properties(named, others: .allowed)
        case .bool(false): return .properties(named, others: .rejected)
        case .document(let inner):
            let others = try SchemaNode(inner, at: path.dropLast() + ["additionalProperties"])
            return .properties(named, others: .checked(others))
        default: throw fault("\"additionalProperties\" must be true, false or a schema")
        }
    }

    /// `exclusiveMinimum` is a bound or, in draft 4 of JSON Schema, a flag that excludes `minimum`.
    private func number() throws -> SchemaNode.Rule? {
        let isMinimum = keyword.lowercased().hasSuffix("minimum")
        let exclusive = isMinimum ? "exclusiveMinimum" : "exclusiveMaximum"
        if keyword == exclusive, value.boolValue != nil {
            guard document.contains(key: isMinimum ? "minimum" : "maximum") else {
                throw fault("\"\(keyword)\" as true or false requires \"\(isMinimum ? "minimum" : "maximum")\"")
            }
            return nil
        }
        guard value.isNumber else { throw fault("\"\(keyword)\" must be a number") }
        let isExclusive = keyword == exclusive || document[exclusive]?.boolValue == true
        let comparison = (isMinimum ? "$gt" : "$lt") + (isExclusive ? "" : "e")
        return .number(
            try EngineMatcher(["v": [comparison: value]]), keyword: isExclusive ? exclusive : keyword, bound: value)
    }

    private func pattern() throws -> SchemaNode.Rule {
        let text = try string()
        do {
            return .pattern(try EngineMatcher(["v": ["$regex": .string(text)]]), text: text)
        } catch let error as TansuError {
            throw TansuError(error.code, error.message, context: path.joined(separator: "."), offset: error.offset)
        }
    }

    private func items() throws -> SchemaNode.Rule {
        value.arrayValue == nil ? .items(try schema()) : .itemsByPosition(try schemas())
    }

    private func matcher(_ condition: BSONDocument) throws -> EngineMatcher {
        try EngineMatcher(["v": .document(condition)])
    }

    private func fault(_ message: String, at other: [String]? = nil) -> TansuError {
        TansuError(
            .invalidQuery, "The schema is invalid: \(message)", context: (other ?? path).joined(separator: "."))
    }
}

extension BSONValue {
    var isNumber: Bool {
        switch self {
        case .int32, .int64, .double, .decimal128: true
        default: false
        }
    }
}
