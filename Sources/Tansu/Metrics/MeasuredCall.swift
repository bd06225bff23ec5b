/// A call that was measured, and the query that it was about.
struct MeasuredCall: Sendable {
    let kind: CallKind
    var collection = ""
    var query: BSONDocument?
    var hints: BSONDocument = [:]
    /// The type of the collection; `nil` when it is not known.
    var collectionType: (any IndexSuggesting.Type)?

    /// The query for the log. Its values must not appear there unless the options say so: `{"age": {"$gt": "?"}}`.
    func text(withValues: Bool) -> String? {
        query.map { (withValues ? $0 : $0.withoutValues).extendedJSON(.relaxed) }
    }
}

extension BSONDocument {
    fileprivate var withoutValues: BSONDocument {
        BSONDocument(map { ($0.key, $0.value.withoutValues) })
    }
}

extension BSONValue {
    fileprivate var withoutValues: BSONValue {
        switch self {
        case .document(let document): .document(document.withoutValues)
        case .array(let array):
            // Conditions are logged one by one, values only as a placeholder.
            array.contains { $0.documentValue != nil }
                ? .array(BSONArray(array.prefix(8).map(\.withoutValues))) : ["?"]
        default: "?"
        }
    }
}
