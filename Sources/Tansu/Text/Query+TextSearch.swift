import TansuBSON

extension Database.Collection {
    /// A query for the documents that the collection's index of words finds, those that fit best first.
    ///
    /// For example:
    ///
    /// ```swift
    /// try articles.ensureTextIndex(on: \.title, \.body, weights: [\.title: 3], language: "en")
    /// for result in try articles.search("dark roast").limit(10).ranked().all() {
    ///     print(result.score, result.title)
    /// }
    /// ```
    ///
    /// In another order, and among other conditions, the search is a condition: `articles.find { $0.year > 2000 && .search("roast") }`.
    ///
    /// - Parameter search: What is searched for: a text, or a search made of parts.
    public func search(_ search: TextSearch) -> Database.Query<Element> {
        var query = find()
        do {
            query.filter = ["$text": .document(try search.operand())]
        } catch {
            query.fault = error as? TansuError ?? TansuError(.invalidQuery, failureReason(of: error))
        }
        return query.sortedByScore()
    }
}

extension Database.Condition {
    /// The collection's index of words finds the document: `$0.year > 2000 && .search("dark roast")`.
    ///
    /// It stands alone or beside other conditions, joined by `&&`; not below `||` and `!`, nor in a condition on elements.
    ///
    /// - Parameter search: What is searched for.
    public static func search(_ search: TextSearch) -> Self {
        Self(Clause { .document(["$text": .document(try search.operand())]) })
    }
}

extension Database.Field where Value: QueryText {
    /// The collection's index of words finds the text: `$0.title.matches(words: "roast")`. It is a search in this path; see
    /// ``Database/Condition/search(_:)``.
    ///
    /// - Parameter search: What is searched for. Of a text, words and phrases one of which is there.
    public func matches(words search: TextSearch) -> Database.Condition { finds(search) }
}

extension Database.Field where Value: QueryArray, Value.QueryElement: QueryText {
    /// The collection's index of words finds one of the texts: `$0.tags.matches(words: "coffee")`. It is a search in this path;
    /// see ``Database/Condition/search(_:)``.
    ///
    /// - Parameter search: What is searched for. Of a text, words and phrases one of which is there.
    public func matches(words search: TextSearch) -> Database.Condition { finds(search) }
}

extension Database.Field {
    fileprivate func finds(_ search: TextSearch) -> Database.Condition {
        condition { path in
            guard path.outer.isEmpty else {
                throw TansuError(
                    .invalidQuery,
                    "A search for words is for whole documents, not for elements of an array; write it beside the condition on"
                        + " elements", context: path.keys.joined(separator: "."))
            }
            let own = search.restricted(to: [try path.dotted(isCondition: true)])
            return .document(["$text": .document(try own.operand())])
        }
    }
}

extension Clause {
    /// The operands of `$text` in query documents that have nothing else; `nil` unless all are such.
    static func searches(_ documents: [BSONDocument]) -> [BSONDocument]? {
        let operands = documents.compactMap { $0.count == 1 ? $0["$text"]?.documentValue : nil }
        return operands.count == documents.count && !operands.isEmpty ? operands : nil
    }

    /// The same query documents with several searches joined to one: a query may have no more.
    static func withOneSearch(_ documents: [BSONDocument]) -> [BSONDocument] {
        let searching = documents.filter { searches([$0]) != nil }
        guard searching.count > 1, let operands = searches(searching),
            let joined = TextSearch.joined(operands, by: "all")
        else { return documents }
        return documents.filter { searches([$0]) == nil } + [["$text": .document(joined)]]
    }
}

// MARK: - Scores

extension Database.Query {
    /// The name of the score in a sort order.
    static var scoreOrder: String { "$textScore" }

    /// The name of the score in the documents of a ranked query.
    static var scoreField: String { "tansu:textScore" }

    private static var score: BSONValue { ["$meta": "textScore"] }

    /// Whether the order or the fields need the scores of a search.
    var hasScores: Bool {
        ["$orderby", "$fields"].contains { hint in
            hints[hint]?.documentValue?.contains { $0.value.documentValue?["$meta"] != nil } ?? false
        }
    }

    /// The same documents, those that fit the search best first. Further calls of `sorted(by:)` order those with equal scores.
    ///
    /// - Note: The query needs a search, such as ``Database/Condition/search(_:)``.
    public func sortedByScore() -> Self {
        var query = self
        var order = hints["$orderby"]?.documentValue ?? [:]
        order[Self.scoreOrder] = Self.score
        query.hints["$orderby"] = .document(order)
        return query
    }

    /// The same documents with the scores of the search: how well each of them fits.
    ///
    /// It is the last refinement of a query: what is sorted by is a property of the documents themselves.
    public func ranked() -> Database.Query<Database.Ranked<Element>> {
        var query = using(codec.ranked(by: Self.scoreField))
        if query.fault == nil {
            do { try checkOrder() } catch { query.fault = error as? TansuError }
        }
        var fields = hints["$fields"]?.documentValue ?? [:]
        fields[Self.scoreField] = Self.score
        query.hints["$fields"] = .document(fields)
        return query
    }
}

extension Database {
    /// A value that a search has found, and how well it fits.
    ///
    /// The properties of the value are its own: `result.title` is `result.value.title`.
    @dynamicMemberLookup
    public struct Ranked<Value: Sendable>: Sendable {
        /// The value.
        public let value: Value

        /// How well it fits, by BM25F: a positive number. Scores of other searches, or at other times, do not compare.
        public let score: Double

        /// Makes a result; queries do so, and tests of your own code may.
        public init(value: Value, score: Double) {
            (self.value, self.score) = (value, score)
        }

        /// A property of the value.
        public subscript<Member>(dynamicMember keyPath: KeyPath<Value, Member>) -> Member { value[keyPath: keyPath] }
    }
}

extension Database.Ranked: Equatable where Value: Equatable {}
extension Database.Ranked: Hashable where Value: Hashable {}

extension Database.Ranked: Identifiable where Value: Identifiable {
    /// The identity of the value.
    public var id: Value.ID { value.id }
}

extension DocumentCodec {
    /// The codec of the same documents with a score, which is one of their fields.
    fileprivate func ranked(by field: String) -> DocumentCodec<Database.Ranked<Element>> {
        var ranked = DocumentCodec<Database.Ranked<Element>>(
            strategies: strategies, encode: { [encode] in try encode($0.value, $1) },
            decode: { [read] bytes in
                var document = BSONDocument(trustedBytes: Array(bytes))
                let score = document.removeValue(forKey: field)?.doubleValue ?? 0
                return Database.Ranked(value: try document.withUnsafeBytes(read), score: score)
            }, context: context)
        (ranked.collection, ranked.policy) = (collection, policy)
        return ranked
    }
}
