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

    private static let leastID = ObjectID(bytes: [UInt8](repeating: 0, count: 12)) ?? ObjectID()

    static let numbers = 1

    static let all: [SortKind] = [
        SortKind(rank: numbers, condition: ["$type": "number"]),
        SortKind(rank: 2, condition: ["$gte": ""]),
        SortKind(rank: 3, condition: ["$gte": [:]]),
        SortKind(rank: 4, condition: ["$elemMatch": ["$type": "array"]]),
        SortKind(rank: 5, condition: ["$gte": .binary(BSONBinary([]))]),
        SortKind(rank: 6, condition: ["$gte": .objectID(leastID)]),
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
