/// The way from a reference to the document that it refers to, in a query.
struct ReferenceHop: Sendable {
    /// Where the reference is.
    let path: FieldPath
    /// The collection of the documents that it refers to.
    let collection: String
    /// The names there.
    let names: NamingScope

    /// The clause that a document with the reference satisfies, for a clause on the document that it refers to.
    ///
    /// A reference that leads nowhere is to a document without any value, as an optional chain in Swift is nil.
    func clause(through target: Clause) throws -> Clause {
        if case .failure = target { return target }
        guard target.holdsWithoutValues else { return try semiJoin(target) }
        return !(try semiJoin(!target))
    }

    private func semiJoin(_ target: Clause) throws -> Clause {
        let query = try names.coding { try target.document() }
        return .test(path, ["$in": ["$from": .string(collection), "$query": .document(query)]])
    }
}

extension Clause {
    /// Whether it holds for a document in which every value that it tests is missing.
    var holdsWithoutValues: Bool {
        switch self {
        case .constant(let value): value
        case .test(_, let operators): operators.allSatisfy { Self.holdsForNothing($0.key, $0.value) }
        // A query document may be anything: it is for documents that there are.
        case .element, .document, .failure: false
        case .all(let clauses): clauses.list.allSatisfy(\.holdsWithoutValues)
        case .any(let clauses): clauses.list.contains(where: \.holdsWithoutValues)
        case .not(let clause): !clause.holdsWithoutValues
        }
    }

    private static func holdsForNothing(_ name: String, _ operand: BSONValue) -> Bool {
        switch name {
        case "$eq", "$gte", "$lte": operand == .null
        case "$in": operand.arrayValue?.contains(.null) ?? false
        default: false
        }
    }
}
