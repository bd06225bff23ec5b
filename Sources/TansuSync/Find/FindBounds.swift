#if TansuSync
import TansuBSON

/// The ranges of keys in which an index has all documents that a condition admits, by the index's first column: also where
/// CouchDB's planner sees none, below `$or` and in `$in`.
struct FindBounds {
    /// How many ranges are read at most; a selector can have more.
    static let maximumCount = 2000

    /// In the order of the keys; no two of them touch.
    private(set) var ranges: [FindRange]

    /// The bounds of a condition on a field; nil when it has none.
    init?(of field: String, in condition: Mango.Condition) throws(Mango.QueryError) {
        // Below a field `_id` values have another order.
        guard field != "_id" else { return nil }
        do throws(CollationError) {
            guard let bounds = try Self.bounds(of: field, in: condition, Collation.shared()) else { return nil }
            self = bounds
        } catch {
            throw Mango.QueryError(error)
        }
    }

    /// Ranges in any order.
    private init(union ranges: [FindRange]) {
        self.ranges = []
        for range in ranges.sorted(by: { FindRange.isLower($0.low, $1.low) }) where !range.isEmpty {
            guard let last = self.ranges.last, !range.isAbove(last) else {
                self.ranges.append(range)
                continue
            }
            guard let high = last.high, let other = range.high else {
                self.ranges[self.ranges.count - 1].high = nil
                return
            }
            if FindRange.isBelow(high, other) { self.ranges[self.ranges.count - 1].high = other }
        }
    }

    /// What is in these bounds and in a range.
    func clipped(to range: FindRange) -> FindBounds {
        FindBounds(union: ranges.map { $0.intersection(range) })
    }

    private func intersection(_ other: FindBounds) -> FindBounds {
        var common: [FindRange] = []
        var (i, j) = (0, 0)
        while i < ranges.count, j < other.ranges.count {
            common.append(ranges[i].intersection(other.ranges[j]))
            // The one that ends first has nothing in common with what follows in the other list.
            if FindRange.endsBefore(ranges[i].high, other.ranges[j].high) { i += 1 } else { j += 1 }
        }
        return FindBounds(union: common)
    }

    private static func bounds(
        of field: String, in condition: Mango.Condition, _ collation: Collation
    ) throws(CollationError) -> FindBounds? {
        switch condition {
        case .and(let conditions):
            var common: FindBounds?
            for condition in conditions {
                guard let bounds = try bounds(of: field, in: condition, collation) else { continue }
                common = common.map { $0.intersection(bounds) } ?? bounds
            }
            return common
        case .or(let conditions) where !conditions.isEmpty:
            var all: [FindRange] = []
            for condition in conditions {
                guard let bounds = try bounds(of: field, in: condition, collation) else { return nil }
                all += bounds.ranges
                guard all.count <= maximumCount else { return nil }
            }
            return FindBounds(union: all)
        case .field(let path, .test(let test)) where path.text == field:
            return try ranges(of: test, collation).map(FindBounds.init(union:))
        default: return nil
        }
    }

    /// Nil when every value is to be looked at.
    private static func ranges(
        of test: Mango.Test, _ collation: Collation
    ) throws(CollationError) -> [FindRange]? {
        switch test {
        case .compare(.notEqual, _): return nil
        case .compare(let comparison, let value):
            guard let range = try Mango.KeyRange().narrowed(by: comparison, value, collation) else { return [] }
            return [try FindRange(low: range.low, high: range.high, collation)]
        case .isIn(let values):
            guard values.count < maximumCount else { return nil }
            // An array matches by its elements: all arrays are looked at, which are between [] and {}.
            var ranges = [try FindRange(low: .array([]), high: .document([:]), collation)]
            for value in values { ranges.append(try FindRange(low: value, high: value, collation)) }
            return ranges
        default: return nil
        }
    }
}

extension FindRange {
    /// The keys whose first column is between two values, both included.
    fileprivate init(low: BSONValue?, high: BSONValue?, _ collation: Collation) throws(CollationError) {
        self.init()
        if let low { self.low = try FindKey(column: low, collation).text }
        if let high {
            var key = try FindKey(column: high, collation)
            key.moveAboveExtensions()
            self.high = key.text
        }
    }

    var isEmpty: Bool {
        guard let low, let high else { return false }
        return !Self.isBelow(low, high)
    }

    /// Whether there are keys between the end of the other range and the beginning of this one.
    fileprivate func isAbove(_ other: FindRange) -> Bool {
        guard let low, let end = other.high else { return false }
        return Self.isBelow(end, low)
    }

    fileprivate func intersection(_ other: FindRange) -> FindRange {
        var common = self
        if Self.isLower(low, other.low) { common.low = other.low }
        if Self.endsBefore(other.high, high) { common.high = other.high }
        return common
    }

    /// The order of keys, which is that of their bytes.
    fileprivate static func isBelow(_ a: String, _ b: String) -> Bool {
        a.utf8.lexicographicallyPrecedes(b.utf8)
    }

    /// Whether one lower bound is below another one; nil is below all keys.
    fileprivate static func isLower(_ a: String?, _ b: String?) -> Bool {
        guard let b else { return false }
        return a.map { isBelow($0, b) } ?? true
    }

    /// Whether one upper bound is below another one; nil is above all keys.
    fileprivate static func endsBefore(_ a: String?, _ b: String?) -> Bool {
        guard let a else { return false }
        return b.map { isBelow(a, $0) } ?? true
    }
}

/// Sort keys of index entries, as text that is the `_id` of a stored entry.
///
/// A key is the sort keys of the columns, a 0, then that of the document's id. Byte 0 is U+0001, byte 255 U+0100: text in the
/// order of the bytes, without U+0000.
struct FindKey {
    private(set) var bytes: [UInt8] = []

    /// The key of some columns.
    init(columns: some Sequence<BSONValue>) throws(Mango.QueryError) {
        do throws(CollationError) {
            let collation = try Collation.shared()
            for value in columns { try collation.appendKey(of: value, to: &bytes) }
        } catch {
            throw Mango.QueryError(error)
        }
    }

    /// The key of one column.
    init(column value: BSONValue, _ collation: Collation) throws(CollationError) {
        try collation.appendKey(of: value, to: &bytes)
    }

    /// The key of an entry.
    init(columns: some Sequence<BSONValue>, id: String) throws(Mango.QueryError) {
        try self.init(columns: columns)
        bytes.append(Self.endOfColumns)
        TermOrder.appendKey(of: id, to: &bytes)
    }

    /// Below all that the key of a column begins with.
    private static let endOfColumns: UInt8 = 0

    /// Above all keys that begin with this one.
    mutating func moveAboveExtensions() { bytes.append(Collation.aboveAllKeys) }

    /// The key as text.
    var text: String {
        var scalars = String.UnicodeScalarView()
        scalars.reserveCapacity(bytes.count)
        for byte in bytes { scalars.append(Self.scalars[Int(byte)]) }
        return String(scalars)
    }

    private static let scalars: [Unicode.Scalar] = (1...256).compactMap { Unicode.Scalar(UInt32($0)) }
}

/// The keys between which an index is read.
struct FindRange: Equatable {
    /// The lowest text; included.
    var low: String?
    /// The first text above the range.
    var high: String?

    /// All keys.
    init() {}

    /// What CouchDB reads for the ranges of the first columns: between the lists of their bounds.
    init(_ ranges: [Mango.KeyRange]) throws(Mango.QueryError) {
        var start: [BSONValue] = []
        for range in ranges {
            guard let bound = range.low else { break }
            start.append(bound)
        }
        var end: [BSONValue] = []
        for range in ranges {
            guard let bound = range.high else { break }
            end.append(bound)
        }
        if !start.isEmpty { low = try FindKey(columns: start).text }
        if !end.isEmpty {
            var key = try FindKey(columns: end)
            key.moveAboveExtensions()
            high = key.text
        }
    }

    /// The query of the entries in the range, after the one where an earlier answer ended.
    func filter(after last: FindKey? = nil, isDescending: Bool = false) -> BSONDocument {
        var conditions = BSONDocument()
        if let low { conditions["$gte"] = .string(low) }
        if let high { conditions["$lt"] = .string(high) }
        var all: [BSONValue] = conditions.isEmpty ? [] : [["_id": .document(conditions)]]
        if let last { all.append(["_id": .document([isDescending ? "$lt" : "$gt": .string(last.text)])]) }
        return all.isEmpty ? [:] : ["$and": .array(BSONArray(all))]
    }
}
#endif
