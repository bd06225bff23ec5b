/// The validation of one document.
struct SchemaCheck {
    let limit: Int
    private(set) var violations: [DocumentSchema.Violation] = []
    private var path: [String] = []

    init(limit: Int) {
        self.limit = limit
    }

    /// Collects the violations of a value.
    mutating func value(_ value: BSONValue, _ node: SchemaNode) throws {
        for rule in node.rules {
            guard violations.count < limit else { return }
            try self.rule(rule, value)
        }
    }

    private mutating func rule(_ rule: SchemaNode.Rule, _ value: BSONValue) throws {
        switch rule {
        case .types(let names, let keyword):
            if !names.contains(where: value.isOf) {
                violate(keyword, "the type \(value.type) is none of \(names.joined(separator: ", "))")
            }
        case .values(let matcher, let list):
            if try !matcher.matches(["v": ["v": value.withSortedKeys]]) {
                violate("enum", "\(value.short) is none of \(list)")
            }
        case .required, .properties: try object(rule, value)
        case .size(let range, let sized, let keyword):
            guard let size = value.size(as: sized), !range.contains(size) else { return }
            let bound = size < range.lowerBound ? "less than \(range.lowerBound)" : "more than \(range.upperBound)"
            violate(keyword, "\(size) is \(bound)")
        case .number(let matcher, let keyword, let bound):
            if value.isNumber, try !matcher.matches(["v": value]) {
                violate(keyword, "\(value) is out of the \(keyword) \(bound)")
            }
        case .pattern(let matcher, let text):
            if value.stringValue != nil, try !matcher.matches(["v": value]) {
                violate("pattern", "\(value.short) does not match \(text)")
            }
        case .items, .itemsByPosition, .uniqueItems: try array(rule, value)
        case .all(let nodes): for node in nodes { try self.value(value, node) }
        case .any, .one, .not: try alternatives(rule, value)
        }
    }

    private mutating func object(_ rule: SchemaNode.Rule, _ value: BSONValue) throws {
        guard let document = value.documentValue else { return }
        switch rule {
        case .required(let keys):
            for key in keys where !document.contains(key: key) {
                violate("required", "the field is missing", at: key)
            }
        case .properties(let named, let others):
            for (key, inner) in document {
                // Every document has an _id; a schema need not say so.
                let isOwn = path.isEmpty && key == "_id"
                switch (named[BytewiseText(key)], others) {
                case (let node?, _): try field(key, inner, node)
                case (nil, .checked(let node)) where !isOwn: try field(key, inner, node)
                case (nil, .rejected) where !isOwn:
                    violate("additionalProperties", "the schema does not allow the field", at: key)
                default: break
                }
            }
        default: break
        }
    }

    private mutating func array(_ rule: SchemaNode.Rule, _ value: BSONValue) throws {
        guard let elements = value.arrayValue.map(Array.init) else { return }
        switch rule {
        case .items(let node):
            for (number, element) in elements.enumerated() { try field("\(number)", element, node) }
        case .itemsByPosition(let nodes):
            for (number, (element, node)) in zip(elements, nodes).enumerated() {
                try field("\(number)", element, node)
            }
        case .uniqueItems:
            if let (first, second) = try elements.firstEqualPair() {
                violate("uniqueItems", "the elements \(first) and \(second) are equal")
            }
        default: break
        }
    }

    private mutating func alternatives(_ rule: SchemaNode.Rule, _ value: BSONValue) throws {
        switch rule {
        case .any(let nodes):
            if try !nodes.contains(where: { try meets(value, $0) }) {
                violate("anyOf", "the value matches none of the \(nodes.count) schemas")
            }
        case .one(let nodes):
            let count = try nodes.count(where: { try meets(value, $0) })
            if count != 1 { violate("oneOf", "the value matches \(count) of the \(nodes.count) schemas, not one") }
        case .not(let node):
            if try meets(value, node) { violate("not", "the value matches the excluded schema") }
        default: break
        }
    }

    private func meets(_ value: BSONValue, _ node: SchemaNode) throws -> Bool {
        var check = SchemaCheck(limit: 1)
        check.path = path
        try check.value(value, node)
        return check.violations.isEmpty
    }

    private mutating func field(_ key: String, _ value: BSONValue, _ node: SchemaNode) throws {
        path.append(key)
        defer { path.removeLast() }
        try self.value(value, node)
    }

    private mutating func violate(_ rule: String, _ message: String, at key: String? = nil) {
        guard violations.count < limit else { return }
        let path = (path + (key.map { [$0] } ?? [])).joined(separator: ".")
        violations.append(DocumentSchema.Violation(path: path, rule: rule, message: message))
    }
}

// MARK: - Values

extension BSONValue {
    /// Whether the value is of a type by its name in `type` or `bsonType`.
    func isOf(_ name: String) -> Bool {
        switch name {
        case "number": isNumber
        case "integer": int64Value != nil || integralBeyondInt64
        case "boolean", "bool": boolValue != nil
        case "object": documentValue != nil
        default: type.description == name
        }
    }

    private var integralBeyondInt64: Bool {
        if case .double(let number) = self { number.isFinite && number.rounded() == number } else { false }
    }

    /// The size that a keyword constrains; `nil` when the value is of another type.
    func size(as sized: SchemaNode.Sized) -> Int? {
        switch sized {
        case .string: stringValue?.unicodeScalars.count
        case .array: arrayValue?.count
        case .object: documentValue?.count
        }
    }

    /// The value with the fields of documents sorted, because their order does not matter in schemas.
    var withSortedKeys: BSONValue {
        switch self {
        case .document(let document):
            .document(BSONDocument(document.map { ($0.key, $0.value.withSortedKeys) }.sorted { $0.0 < $1.0 }))
        case .array(let array): .array(BSONArray(array.map(\.withSortedKeys)))
        default: self
        }
    }

    /// The value for a message, truncated.
    var short: String {
        let text = description
        return text.count > 80 ? text.prefix(80) + "…" : text
    }

    /// A key that is equal for values that are equal in the order of the database (1 and 1.0), and mostly different for
    /// others.
    fileprivate var coarse: BSONValue {
        switch self {
        case .int32, .int64, .double, .decimal128: coarseNumber
        case .document(let document): .document(BSONDocument(document.map { ($0.key, $0.value.coarse) }))
        case .array(let array): .array(BSONArray(array.map(\.coarse)))
        default: self
        }
    }

    private var coarseNumber: BSONValue {
        if let integer = int64Value { return .int64(integer) }
        let number: Double
        switch self {
        case .double(let value): number = value
        case .decimal128(let value): number = Double(value.description) ?? .nan
        default: return self
        }
        return .double(number.isNaN ? .nan : number)
    }
}

extension [BSONValue] {
    /// The positions of two elements that are equal in the database's order.
    func firstEqualPair() throws -> (Int, Int)? {
        let elements = map(\.withSortedKeys)
        var seen: [BSONValue: [Int]] = [:]
        for (number, element) in elements.enumerated() {
            let key = element.coarse
            for candidate in seen[key] ?? [] {
                if try EngineMatcher(["v": ["$eq": ["v": elements[candidate]]]]).matches(["v": ["v": element]]) {
                    return (candidate, number)
                }
            }
            seen[key, default: []].append(number)
        }
        return nil
    }
}
