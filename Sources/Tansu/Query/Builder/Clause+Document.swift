extension Clause {
    /// The equivalent query document.
    ///
    /// - Throws: ``TansuError`` with `.invalidQuery`.
    func document() throws -> BSONDocument {
        try document(in: .document)
    }

    /// The query whose paths begin in the document, or in an element that is one.
    ///
    /// - Parameter element: Where the element is.
    private func document(in element: FieldPath) throws -> BSONDocument {
        let depth = element.depth
        switch self {
        case .constant(true): return [:]
        case .constant(false): return ["_id": ["$in": []]]
        case .test(let path, let operators): return [try path.dotted(at: depth): Self.condition(operators)]
        case .element(let path, let clause):
            return [try path.dotted(at: depth): .document(try Self.element(path, clause))]
        case .document(let document): return try QueryCoding.stored(document, below: element.outer.flatMap { $0 })
        case .all(let clauses): return Self.joined(try clauses.list.map { try $0.document(in: element) })
        case .any(let clauses):
            let documents = try clauses.list.map { try $0.document(in: element) }
            if let search = Self.searches(documents).flatMap({ TextSearch.joined($0, by: "any") }) {
                return ["$text": .document(search)]
            }
            return ["$or": BSONValue(documents.map { .document($0) })]
        case .not(.test(let path, let operators)):
            return [try path.dotted(at: depth): .document(Self.negation(operators))]
        case .not(let clause): return ["$not": .document(try clause.document(in: element))]
        case .failure(let error): throw error
        }
    }

    /// The operators on an element that is not a document.
    private func operators(in element: FieldPath) throws -> BSONDocument {
        switch self {
        case .constant(true): return ["$nin": []]
        case .constant(false): return ["$in": []]
        case .test(let path, let operators):
            try path.check(at: element.depth)
            return operators
        case .element(let path, let clause):
            try path.check(at: element.depth)
            return try Self.element(path, clause)
        case .document(let document): return try QueryCoding.stored(document, below: element.outer.flatMap { $0 })
        case .all(let clauses): return try Self.list("$and", clauses, element)
        case .any(let clauses): return try Self.list("$or", clauses, element)
        case .not(.test(let path, let operators)):
            try path.check(at: element.depth)
            return Self.negation(operators)
        case .not(let clause): return ["$not": .document(try clause.operators(in: element))]
        case .failure(let error): throw error
        }
    }

    private static func list(_ name: String, _ clauses: Clauses, _ element: FieldPath) throws -> BSONDocument {
        [name: BSONValue(try clauses.list.map { .document(try $0.operators(in: element)) })]
    }

    private static func element(_ path: FieldPath, _ clause: Clause) throws -> BSONDocument {
        let paths = clause.paths(at: path.depth + 1)
        if paths.allSatisfy(\.keys.isEmpty) {
            return ["$elemMatch": .document(try clause.operators(in: path.element))]
        }
        guard paths.allSatisfy({ !$0.keys.isEmpty }) else {
            throw TansuError(
                .invalidQuery, "A condition tests both an array element and its fields; write two conditions",
                context: path.keys.joined(separator: "."))
        }
        return ["$elemMatch": .document(try clause.document(in: path.element))]
    }

    /// Whether it tests fields of an element that is nested in `depth` arrays, not only the element itself.
    func testsFields(at depth: Int) -> Bool {
        paths(at: depth).contains { !$0.keys.isEmpty }
    }

    /// The paths that a clause tests directly, not through an array.
    private func paths(at depth: Int) -> [FieldPath] {
        switch self {
        case .constant, .failure: []
        case .document(let document): [FieldPath(outer: Array(repeating: [], count: depth), keys: document.operand)]
        case .test(let path, _), .element(let path, _): [path]
        case .all(let clauses), .any(let clauses): clauses.list.flatMap { $0.paths(at: depth) }
        case .not(let clause): clause.paths(at: depth)
        }
    }

    /// Equality is expressed by the value alone, unless that has another meaning.
    private static func condition(_ operators: BSONDocument) -> BSONValue {
        guard let value = soleEqual(operators) else { return .document(operators) }
        switch value {
        case .document, .array, .regularExpression: return .document(operators)
        default: return value
        }
    }

    private static func negation(_ operators: BSONDocument) -> BSONDocument {
        if let value = soleEqual(operators) { return ["$ne": value] }
        return ["$not": .document(operators)]
    }

    private static func soleEqual(_ operators: BSONDocument) -> BSONValue? {
        operators.count == 1 ? operators["$eq"] : nil
    }

    /// The conjunction of queries: one document when their keys are distinct.
    private static func joined(_ documents: [BSONDocument]) -> BSONDocument {
        let documents = withOneSearch(documents)
        var fields: [(String, BSONValue)] = []
        for document in documents { fields += document.map { ($0.key, $0.value) } }
        guard Set(fields.map(\.0)).count == fields.count else {
            return merged(fields) ?? ["$and": BSONValue(documents.map { .document($0) })]
        }
        return BSONDocument(fields)
    }

    /// The conjunction with several operators on one path merged; `nil` where that is not possible.
    private static func merged(_ fields: [(String, BSONValue)]) -> BSONDocument? {
        var result = BSONDocument()
        for (key, value) in fields {
            guard let present = result[key] else {
                result[key] = value
                continue
            }
            guard !key.hasPrefix("$"), case .document(var operators) = present, case .document(let more) = value,
                operators.isCondition, more.isCondition
            else { return nil }
            for (name, operand) in more {
                guard operators[name] == nil else { return nil }
                operators[name] = operand
            }
            result[key] = .document(operators)
        }
        return result
    }
}

extension BSONDocument {
    /// A key that it tests: none when it has operators only, which are about an element that is no document.
    fileprivate var operand: [String] {
        guard let key = keys.first, !key.hasPrefix("$") || Self.connectives.contains(key) else { return [] }
        return [key]
    }

    private static var connectives: Set<String> { ["$and", "$or", "$nor"] }

    /// Whether it has operators that can be merged; `$options` could apply to another `$regex`.
    fileprivate var isCondition: Bool {
        !isEmpty && keys.allSatisfy { $0.hasPrefix("$") && $0 != "$options" && $0 != "$regex" }
    }
}

extension FieldPath {
    /// The text of the path from an element that is nested in `depth` arrays.
    fileprivate func dotted(at depth: Int) throws -> String {
        try check(at: depth)
        return try dotted(isCondition: true)
    }

    fileprivate func check(at depth: Int) throws {
        guard depth == self.depth else {
            throw TansuError(
                .invalidQuery,
                "A condition on array elements tests a field outside the element; test it in a condition of its own",
                context: keys.joined(separator: "."))
        }
    }
}
