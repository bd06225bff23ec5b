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
