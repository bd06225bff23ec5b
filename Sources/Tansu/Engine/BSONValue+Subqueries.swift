extension BSONValue {
    /// The collections that the subqueries of a query read, those inside subqueries among them.
    var subqueryCollections: [String] {
        switch self {
        case .document(let document):
            let own = document["$from"]?.stringValue
            return (own.map { [$0] } ?? []) + document.flatMap { $0.value.subqueryCollections }
        case .array(let elements): return elements.flatMap(\.subqueryCollections)
        default: return []
        }
    }
}
