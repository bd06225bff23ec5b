import Tansu

/// The documents of several collections in one, which a database in memory keeps: so they are sorted, and their values
/// compared and summed up, by the rules of queries.
struct SearchUnion {
    private let database: Database
    private let documents: Database.Collection<BSONDocument>

    /// Where the document is in one of the union.
    private static let field = "document"

    init(of results: [Search.Result]) throws {
        database = try Database(.memory)
        documents = try database.collection("results")
        try documents.save(
            results.enumerated().map { number, result in
                [
                    "_id": BSONValue(number), "collection": .string(result.key.collection),
                    Self.field: .document(result.document),
                ]
            })
    }

    /// The documents in an order and a range.
    func results(_ hints: BSONDocument) throws -> [Search.Result] {
        var own = hints
        if let order = hints["$orderby"]?.documentValue { own["$orderby"] = .document(Self.inside(order)) }
        if let fields = hints["$fields"]?.documentValue {
            var fields = fields
            fields["_id"] = 1
            var inside = Self.inside(fields)
            inside["collection"] = 1
            own["$fields"] = .document(inside)
        }
        return try documents.find([:], hints: own).all().map {
            Search.Result(
                $0[Self.field]?.documentValue ?? [:], in: $0["collection"]?.stringValue ?? "")
        }
    }

    func distinctValues(of path: String, _ hints: BSONDocument) throws -> [BSONValue] {
        try documents.distinct("\(Self.field).\(path)", hints: hints)
    }

    func aggregate(_ name: String, _ path: String) throws -> [BSONDocument] {
        try documents.aggregate(group: ["fields": ["value": [name: .string("\(Self.field).\(path)")]]])
    }

    private static func inside(_ paths: BSONDocument) -> BSONDocument {
        BSONDocument(paths.map { ("\(field).\($0.key)", $0.value) })
    }
}
