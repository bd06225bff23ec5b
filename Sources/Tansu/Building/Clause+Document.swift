extension Clause {
    /// The query document that says the same.
    ///
    /// - Throws: ``TansuError`` with `.invalidQuery`.
    func document() throws -> BSONDocument {
        try document(depth: 0)
    }

    /// As a query whose paths begin in the document, or in an element that is one.
    private func document(depth: Int) throws -> BSONDocument {
        switch self {
        case .constant(true): return [:]
        case .constant(false): return ["_id": ["$in": []]]
        case .test(let place, let operators): return [try place.path(at: depth): Self.condition(operators)]
        case .element(let place, let clause):
            return [try place.path(at: depth): .document(try Self.element(place, clause))]
        case .all(let clauses): return Self.joined(try clauses.map { try $0.document(depth: depth) })
        case .any(let clauses):
            return ["$or": BSONValue(try clauses.map { .document(try $0.document(depth: depth)) })]
        case .not(.test(let place, let operators)):
            return [try place.path(at: depth): .document(Self.negation(operators))]
        case .not(let clause): return ["$not": .document(try clause.document(depth: depth))]
        case .failure(let error): throw error
        }
    }

    /// As operators on the element itself, which is no document.
    private func operators(depth: Int) throws -> BSONDocument {
        switch self {
        case .constant(true): return ["$nin": []]
        case .constant(false): return ["$in": []]
        case .test(let place, let operators):
            try place.check(at: depth)
            return operators
        case .element(let place, let clause):
            try place.check(at: depth)
            return try Self.element(place, clause)
        case .all(let clauses): return try Self.list("$and", clauses, depth)
        case .any(let clauses): return try Self.list("$or", clauses, depth)
        case .not(.test(let place, let operators)):
            try place.check(at: depth)
            return Self.negation(operators)
        case .not(let clause): return ["$not": .document(try clause.operators(depth: depth))]
        case .failure(let error): throw error
        }
    }

    private static func list(_ name: String, _ clauses: [Clause], _ depth: Int) throws -> BSONDocument {
        [name: BSONValue(try clauses.map { .document(try $0.operators(depth: depth)) })]
    }

    private static func element(_ place: FieldPlace, _ clause: Clause) throws -> BSONDocument {
        let depth = place.depth + 1
        let places = clause.places(at: depth)
        if places.allSatisfy(\.keys.isEmpty) {
            return ["$elemMatch": .document(try clause.operators(depth: depth))]
        }
        guard places.allSatisfy({ !$0.keys.isEmpty }) else {
            throw TansuError(
                .invalidQuery, "a condition asks about an element itself and about its fields at once",
                context: place.keys.joined(separator: "."))
        }
        return ["$elemMatch": .document(try clause.document(depth: depth))]
    }

    /// Whether it asks about fields of an element that is inside so many arrays, not just about the element itself.
    func asksForFields(at depth: Int) -> Bool {
        places(at: depth).contains { !$0.keys.isEmpty }
    }

    /// The places that a clause asks about directly, not through an array.
    private func places(at depth: Int) -> [FieldPlace] {
        switch self {
        case .constant, .failure: []
        case .test(let place, _), .element(let place, _): [place]
        case .all(let clauses), .any(let clauses): clauses.flatMap { $0.places(at: depth) }
        case .not(let clause): clause.places(at: depth)
        }
    }

    /// Equality is said by the value alone, unless that would be read as something else.
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

    /// Queries that all hold: in one document where no key comes twice.
    private static func joined(_ documents: [BSONDocument]) -> BSONDocument {
        var fields: [(String, BSONValue)] = []
        for document in documents { fields += document.map { ($0.key, $0.value) } }
        guard Set(fields.map(\.0)).count == fields.count else {
            return merged(fields) ?? ["$and": BSONValue(documents.map { .document($0) })]
        }
        return BSONDocument(fields)
    }

    /// The same with several operators on one path side by side; `nil` where that is not possible.
    private static func merged(_ fields: [(String, BSONValue)]) -> BSONDocument? {
        var result = BSONDocument()
        for (key, value) in fields {
            guard let present = result[key] else {
                result[key] = value
                continue
            }
            guard key.first != "$", case .document(var operators) = present, case .document(let more) = value,
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
    /// Whether it is of operators; `$options` would come to a `$regex` that is not its own.
    fileprivate var isCondition: Bool {
        !isEmpty && keys.allSatisfy { $0.first == "$" && $0 != "$options" && $0 != "$regex" }
    }
}

extension FieldPlace {
    /// The text of the path from an element that is inside so many arrays.
    fileprivate func path(at depth: Int) throws -> String {
        try check(at: depth)
        return try path()
    }

    fileprivate func check(at depth: Int) throws {
        guard depth == self.depth else {
            throw TansuError(
                .invalidQuery, "a condition on the elements of an array asks about a field outside of the element",
                context: keys.joined(separator: "."))
        }
    }
}
