import Foundation

extension Database {
    /// A page of a query's results, and the token of the next one.
    public struct Page<Element: Sendable>: Sendable {
        /// The documents of the page.
        public let elements: [Element]

        /// The token for the next page; `nil` when this is the last.
        public let next: PageToken?
    }

    /// The end of a page of results, as opaque text. It is not encrypted: it has the sort key of the last document.
    ///
    /// It stays valid after writes, in other processes and after a restart.
    public struct PageToken: RawRepresentable, Codable, Hashable, Sendable {
        /// The text, of letters, digits, `-` and `_`.
        public let rawValue: String

        /// A token from its text; it is validated when it is used.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }
    }
}

extension Database.Page: Sequence {
    /// Iterates over the documents of the page.
    public func makeIterator() -> IndexingIterator<[Element]> { elements.makeIterator() }
}

// MARK: - PageToken: content

extension Database.PageToken {
    /// Makes a token from the sort order and the sort key of the last document of a page.
    init(order: BSONDocument, values: [BSONValue]) {
        let content: BSONDocument = ["v": 1, "order": .document(order), "values": BSONValue(values)]
        let text = content.withUnsafeBytes { Data($0) }.base64EncodedString()
        rawValue = text.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// The sort key, when the token is of this sort order.
    ///
    /// - Throws: ``TansuError`` with `.invalidQuery`.
    func values(for order: BSONDocument) throws -> [BSONValue] {
        var text = rawValue.replacing("-", with: "+").replacing("_", with: "/")
        text += String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: text), let content = try? BSONDocument(bytes: data), content["v"] == 1,
            let values = content["values"]?.arrayValue.map(Array.init)
        else {
            throw TansuError(
                .invalidQuery, "The text is not a page token; pass the next token of a page", context: rawValue)
        }
        guard content["order"]?.documentValue == order, values.count == order.count else {
            throw TansuError(
                .invalidQuery, "The page token belongs to another sort order; start again without a token",
                context: content["order"].map { "\($0)" } ?? "")
        }
        return values
    }
}

// MARK: - PageOrder

/// The sort order of pages, in which no two documents are equal.
struct PageOrder {
    /// The paths and their directions, ending with `_id`.
    let document: BSONDocument

    init(_ order: BSONDocument) {
        var document = order
        if order["_id"] == nil { document["_id"] = order.map(\.value).last ?? 1 }
        self.document = document
    }

    private var keys: [Database.IndexKey] { Database.IndexKey.keys(document) }

    /// The sort key of a document.
    ///
    /// - Parameter extreme: Finds the least or greatest value of a path that leads to or through an array.
    /// - Throws: ``TansuError`` with `.invalidQuery` when no query can select the documents after a value.
    func values(
        of document: BSONDocument, extreme: (String, SortDirection) throws -> BSONValue
    ) throws -> [BSONValue] {
        try keys.map { key in
            let value = try document.plainValue(atPath: key.path) ?? extreme(key.path, key.direction)
            _ = try SortKey(key, value)
            return value
        }
    }

    /// A query for the documents after the one with this sort key.
    func after(_ values: [BSONValue]) throws -> BSONDocument {
        var branches: [BSONValue] = []
        var equal: [BSONDocument] = []
        var first: [BSONDocument] = []
        for (key, value) in zip(keys, values) {
            let sortKey = try SortKey(key, value)
            if first.isEmpty { first = sortKey.notBefore }
            branches.append(["$and": BSONValue((equal + sortKey.after).map { .document($0) })])
            equal += sortKey.equal
        }
        // The branches are sufficient, but the condition on the first key gives the planner one range of an index.
        return ["$and": BSONValue(first.map { .document($0) } + [["$or": BSONValue(branches)]])]
    }
}

/// The value that a document is sorted by at one path, and how others compare with it.
///
/// A document is sorted by the least of its values at a path (by the greatest when descending), because an array has
/// several. It comes after a value when none of its values is before or equal to that.
struct SortKey {
    private let path: String
    private let value: BSONValue
    private let isDescending: Bool
    private let rank: Int

    init(_ key: Database.IndexKey, _ value: BSONValue) throws {
        guard let rank = SortKind.rank(of: value) else {
            throw TansuError(
                .invalidQuery,
                "Paging cannot continue after a value of type \(value.type) at \"\(key.path)\"; sort by another path",
                context: key.path
            )
        }
        path = key.path
        self.value = value
        self.rank = rank
        isDescending = key.direction == .descending
    }

    /// Conditions that all hold of what comes after.
    var after: [BSONDocument] {
        if value.isNull { return nothingBefore + (isDescending ? leastKey : hasValue) }
        return (before + [["$eq": value]]).map(not) + nothingBefore
    }

    /// Conditions that all hold of what comes after or is equal.
    var notBefore: [BSONDocument] {
        value.isNull ? nothingBefore : before.map(not) + nothingBefore
    }

    /// Conditions that all hold of what is equal.
    var equal: [BSONDocument] {
        if value.isNull { return nothingBefore + [none(isDescending ? leastKey : hasValue)] }
        return [[path: ["$eq": value]]] + notBefore
    }

    /// Conditions that select the values of its type that come before it. Sorts have NaN below all numbers, and ranges
    /// leave it out.
    private var before: [BSONDocument] {
        if value.isNaN { return isDescending ? [["$gte": .double(-.infinity)]] : [] }
        if isDescending { return [["$gt": value]] }
        return [["$lt": value]] + (rank == SortKind.numbers ? [["$eq": .double(.nan)]] : [])
    }

    /// None of its values is of a type that comes before, such as null unless it is the value itself.
    private var nothingBefore: [BSONDocument] {
        if isDescending { return SortKind.all.filter { $0.rank > rank }.map { not($0.condition) } }
        return SortKind.all.filter { $0.rank < rank }.map { not($0.condition) } + [not(["$type": "minKey"])]
            + (value.isNull ? [] : hasValue)
    }

    /// There are values, and none of them is null or missing. An empty array has none.
    private var hasValue: [BSONDocument] {
        [isNotNull, [path: ["$exists": true]], not(["$size": 0])]
    }

    /// MinKey, which comes before null, and nothing else.
    private var leastKey: [BSONDocument] { [[path: ["$type": "minKey"]], isNotNull] }

    private var isNotNull: BSONDocument {
        Self.hasPosition(path) ? ["$nor": [.document(Self.hasNull(path))]] : [path: ["$ne": nil]]
    }

    /// Selects documents with a null or missing value at a path.
    ///
    /// A position, as in `visits.1.year`, is that element in a sort. To a condition it is also a key that the documents
    /// of the array may lack, so that `null` would select them.
    static func hasNull(_ path: String) -> BSONDocument {
        guard hasPosition(path) else { return [path: nil] }
        return ["$or": [[path: ["$exists": false]], [path: ["$type": ["null", "undefined"]]]]]
    }

    private static func hasPosition(_ path: String) -> Bool {
        path.split(separator: ".").dropFirst().contains { $0.allSatisfy { "0"..."9" ~= $0 } }
    }

    private func none(_ conditions: [BSONDocument]) -> BSONDocument {
        ["$not": ["$and": BSONValue(conditions.map { .document($0) })]]
    }

    private func not(_ condition: BSONDocument) -> BSONDocument { [path: ["$not": .document(condition)]] }
}

/// A group of types in the order of all values, without null.
private struct SortKind {
    let rank: Int
    /// Selects all values of the group.
    let condition: BSONDocument

    static let numbers = 1

    static let all: [SortKind] = [
        SortKind(rank: numbers, condition: ["$type": "number"]),
        SortKind(rank: 2, condition: ["$gte": ""]),
        SortKind(rank: 3, condition: ["$gte": [:]]),
        SortKind(rank: 4, condition: ["$elemMatch": ["$type": "array"]]),
        SortKind(rank: 5, condition: ["$gte": .binary(BSONBinary([]))]),
        SortKind(rank: 6, condition: ["$gte": .objectID(.zero)]),
        SortKind(rank: 7, condition: ["$gte": false]),
        SortKind(rank: 8, condition: ["$gte": .date(Int64.min)]),
        SortKind(rank: 9, condition: ["$gte": .timestamp(BSONTimestamp(seconds: 0, increment: 0))]),
        SortKind(
            rank: 10, condition: ["$type": ["regex", "dbPointer", "javascript", "javascriptWithScope", "maxKey"]]),
    ]

    /// The rank of a value's group; 0 for null, `nil` for types that cannot be compared.
    static func rank(of value: BSONValue) -> Int? {
        switch value {
        case .null, .undefined: 0
        case .double, .int32, .int64, .decimal128: numbers
        case .string, .symbol: 2
        case .document: 3
        case .binary: 5
        case .objectID: 6
        case .bool: 7
        case .date: 8
        case .timestamp: 9
        case .array, .regularExpression, .dbPointer, .code, .codeWithScope, .minKey, .maxKey: nil
        }
    }
}

extension BSONDocument {
    /// The value at a path where no array is; null where there is none, `nil` where the path meets an array.
    fileprivate func plainValue(atPath path: String) -> BSONValue? {
        var value = BSONValue.document(self)
        for key in FieldPath.keys(of: path) {
            // Not `nil`: that would be BSON's null.
            if value.arrayValue != nil { return Optional.none }
            value = value.documentValue?[key] ?? .null
        }
        return value.arrayValue == nil ? value : Optional.none
    }
}

extension BSONValue {
    fileprivate var isNaN: Bool {
        switch self {
        case .double(let number): number.isNaN
        case .decimal128(let number): number.isNaN
        default: false
        }
    }
}

// MARK: - Pages

extension Database.Query {
    /// One page of the documents: after a page token, or the first one.
    ///
    /// For example:
    ///
    /// ```swift
    /// let query = try people.find { $0.age >= 18 }.sorted(by: \.name)
    /// let first = try query.page(size: 20)
    /// if let token = first.next { let second = try query.page(after: token, size: 20) }
    /// ```
    ///
    /// The documents are sorted as the query says, and then by `_id` in the direction of the last path; without a sort
    /// order by `_id`. A token holds the sort key of the last document instead of a count, so that no document is
    /// repeated or skipped when others are inserted or removed meanwhile. With an index over the sort paths and `_id`
    /// every page is as fast as the first.
    ///
    /// - Parameters:
    ///   - token: The token of the previous page, of the same sort order and the same or another query.
    ///   - size: The maximum number of documents, 1 to 2,147,483,646.
    /// - Throws: ``TansuError`` with `.invalidQuery`: as `all()`, an invalid token, a skip or limit in the query, or
    ///   a sort by values that no query can compare, such as regular expressions.
    public func page(after token: Database.PageToken? = nil, size: Int) throws -> Database.Page<Element> {
        guard session.transaction == nil else { return try readPage(after: token, size: size) }
        return try session.database.readInCall {
            try using($0.session).readPage(after: token, size: size)
        }
    }

    /// One page of the documents: after a page token, or the first one.
    ///
    /// - Parameters:
    ///   - token: The token of the previous page, of the same sort order and the same or another query.
    ///   - size: The maximum number of documents, 1 to 2,147,483,646.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    public func page(after token: Database.PageToken? = nil, size: Int) async throws -> Database.Page<Element> {
        try await session.runCancellable(.read) { try self.using($0).readPage(after: token, size: size) }
    }

    /// In a transaction, so that all calls see one snapshot.
    private func readPage(after token: Database.PageToken?, size: Int) throws -> Database.Page<Element> {
        try checkPaging(size)
        try checkOrder()
        let order = PageOrder(hints["$orderby"]?.documentValue ?? [:])
        let paged = try after(token, in: order)
        let elements = try paged.limit(size).all()
        // A page may have fewer elements: documents that cannot be decoded may be skipped.
        let mayGoOn = elements.count == size || codec.skips
        guard mayGoOn, let last = try paged.documentWithNext(at: size - 1) else {
            return Database.Page(elements: elements, next: nil)
        }
        let values = try order.values(of: last) { try self.extreme($0, $1, of: last) }
        return Database.Page(elements: elements, next: Database.PageToken(order: order.document, values: values))
    }

    /// The documents after a page, in the order of pages.
    func after(_ token: Database.PageToken?, in order: PageOrder) throws -> Self {
        var query = self
        query.hints["$orderby"] = .document(order.document)
        if let token { query = query.filtered(by: try order.after(try token.values(for: order.document))) }
        query.isPaged = true
        return query
    }

    private func checkPaging(_ size: Int) throws {
        guard size > 0 && size < Int(Int32.max) else {
            throw TansuError(
                .invalidQuery, "The page size \(size) is out of range; pass 1 to \(Int32.max - 1)", context: "\(size)")
        }
        if hasScores {
            throw TansuError(
                .invalidQuery, "The scores of a search cannot be combined with paging; use limit(_:) and skip(_:)",
                context: "page(after:size:)")
        }
        for hint in ["$skip", "$max", "$limit", "$onlycount", "$explain"] where hints[hint] != nil {
            throw TansuError(
                .invalidQuery, "The hint \"\(hint)\" cannot be combined with paging; remove it",
                context: "hints.\(hint)")
        }
    }

    private func filtered(by rest: BSONDocument) -> Self {
        var query = self
        query.filter = filter.isEmpty ? rest : ["$and": [.document(filter), .document(rest)]]
        return query
    }

    /// The complete document at a position, when another one follows it.
    private func documentWithNext(at position: Int) throws -> BSONDocument? {
        var hints = self.hints
        hints["$fields"] = nil
        hints["$do"] = nil
        let documents = Database.Query<BSONDocument>(
            session: session, collection: collection, codec: .documents, filter: filter, hints: hints)
        let pair = try documents.skip(position).limit(2).all()
        return pair.count == 2 ? pair[0] : nil
    }

    /// The least or the greatest value of a path in one document, by which it is sorted.
    private func extreme(_ path: String, _ direction: SortDirection, of document: BSONDocument) throws -> BSONValue {
        let id = document["_id"] ?? .null
        let alone: BSONDocument = ["_id": ["$eq": id]]
        var hints: BSONDocument = [:]
        if let collation = self.hints["$collation"] { hints["$collation"] = collation }
        let answer = try session.engine.distinct(path, alone, hints, in: collection)
        let values = answer["values"]?.arrayValue.map(Array.init)?.filter { !$0.isNull } ?? []
        if direction == .descending { return values.last ?? .null }
        let isNull: BSONDocument = ["$and": [.document(alone), .document(SortKey.hasNull(path))]]
        let hasNull = try session.engine.count(isNull, [:], in: collection) > 0
        return hasNull ? .null : values.first ?? .null
    }
}
