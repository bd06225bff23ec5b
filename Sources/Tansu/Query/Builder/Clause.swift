/// A query before it becomes a document. The key-path builder and the translation of `#Predicate` both make clauses.
///
/// Every clause is either true or false for a document, so that `not` is the exact complement.
indirect enum Clause: Sendable {
    case constant(Bool)
    /// Operators on the value at a path, all of which hold.
    case test(FieldPath, BSONDocument)
    /// Some element of the array at a path meets a clause, whose paths begin in that element.
    case element(FieldPath, Clause)
    /// A query document, for what no other clause expresses; its paths begin in the document or the element.
    case document(BSONDocument)
    case all(Clauses)
    case any(Clauses)
    case not(Clause)
    /// It cannot be expressed; the error is thrown when the query is made.
    case failure(TansuError)
}

/// Several clauses that are joined.
struct Clauses: Sendable {
    let list: [Clause]
    /// One more than the deepest of them.
    let depth: Int

    init(_ clause: Clause) {
        self.init(list: [clause], depth: clause.depth + 1)
    }

    private init(list: [Clause], depth: Int) {
        self.list = list
        self.depth = depth
    }

    static func + (a: Clauses, b: Clauses) -> Clauses {
        Clauses(list: a.list + b.list, depth: max(a.depth, b.depth))
    }
}

extension Clause {
    /// More levels than that are an error. A query document has at most 100, and one of them is two levels here at most,
    /// as in `!(a && !(b && c))`.
    private static let maxDepth = 200

    /// How many clauses are in one another.
    var depth: Int {
        switch self {
        case .constant, .test, .document, .failure: 0
        case .all(let clauses), .any(let clauses): clauses.depth
        case .element(_, let clause), .not(let clause): clause.depth + 1
        }
    }

    /// The clause, or an error instead of too many levels. Those are not kept: whatever visits them, such as freeing
    /// them, needs stack for each.
    var bounded: Clause {
        depth <= Self.maxDepth
            ? self
            : .failure(
                TansuError(
                    .tooLarge,
                    "The condition is nested too deep for a query, which has at most 100 levels; join fewer conditions in"
                        + " one another, or filter the results in Swift", context: "query"))
    }

    static func && (a: Clause, b: Clause) -> Clause {
        switch (a, b) {
        case (.failure, _): a
        case (_, .failure): b
        case (_, .constant(true)), (.constant(false), _): a
        case (.constant(true), _), (_, .constant(false)): b
        case (.all(let a), .all(let b)): .all(a + b)
        case (.all(let a), _): Clause.all(a + Clauses(b)).bounded
        case (_, .all(let b)): Clause.all(Clauses(a) + b).bounded
        default: Clause.all(Clauses(a) + Clauses(b)).bounded
        }
    }

    static func || (a: Clause, b: Clause) -> Clause {
        switch (a, b) {
        case (.failure, _): a
        case (_, .failure): b
        case (_, .constant(false)), (.constant(true), _): a
        case (.constant(false), _), (_, .constant(true)): b
        case (.any(let a), .any(let b)): .any(a + b)
        case (.any(let a), _): Clause.any(a + Clauses(b)).bounded
        case (_, .any(let b)): Clause.any(Clauses(a) + b).bounded
        default: Clause.any(Clauses(a) + Clauses(b)).bounded
        }
    }

    static prefix func ! (clause: Clause) -> Clause {
        switch clause {
        case .constant(let value): .constant(!value)
        case .not(let inner): inner
        case .failure: clause
        default: Clause.not(clause).bounded
        }
    }
}

extension Database {
    /// A condition of a query by key path: comparisons of fields, combined by `&&`, `||` and `!`.
    public struct Condition: Sendable {
        let clause: Clause

        init(_ clause: Clause) {
            self.clause = clause
        }

        /// A part of the query as a document, for operators that properties do not have:
        /// `$0.age > 10 && .raw(["name": ["$strand": ["mike", "lena"]]])`.
        ///
        /// Its paths are stored names and begin in the document or, inside `contains` and `allSatisfy`, in the element.
        ///
        /// - Parameter query: The document; an empty one matches all.
        public static func raw(_ query: BSONDocument) -> Condition {
            Condition(query.isEmpty ? .constant(true) : .document(query))
        }

        /// A condition that cannot be made: the query throws the error.
        package static func failing(_ error: any Error) -> Condition {
            Condition(.failure(error as? TansuError ?? TansuError(.invalidQuery, failureReason(of: error))))
        }

        /// Both hold.
        public static func && (a: Condition, b: Condition) -> Condition { Condition(a.clause && b.clause) }

        /// One of the two holds, or both.
        public static func || (a: Condition, b: Condition) -> Condition { Condition(a.clause || b.clause) }

        /// It does not hold.
        public static prefix func ! (condition: Condition) -> Condition { Condition(!condition.clause) }
    }
}

// MARK: - Comparing

/// How two values compare.
enum Relation: Sendable {
    case equal
    case notEqual
    case less
    case lessOrEqual
    case greater
    case greaterOrEqual

    /// The relation with its operands swapped.
    var swapped: Relation {
        switch self {
        case .equal, .notEqual: self
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        }
    }

    /// Whether it asks which value is greater.
    var isOrder: Bool { self != .equal && self != .notEqual }

    func holds<Value: Comparable>(_ a: Value, _ b: Value) -> Bool {
        switch self {
        case .equal: a == b
        case .notEqual: a != b
        case .less: a < b
        case .lessOrEqual: a <= b
        case .greater: a > b
        case .greaterOrEqual: a >= b
        }
    }
}

extension Clause {
    /// A comparison with the meaning of Swift: nil equals nil, NaN equals nothing and is less than nothing.
    static func compare(_ path: FieldPath, _ relation: Relation, _ value: BSONValue) -> Clause {
        if value.hasNaN { return .constant(relation == .notEqual) }
        switch relation {
        case .equal: return equal(path, value)
        case .notEqual: return !equal(path, value)
        case .greater: return .test(path, ["$gt": value])
        case .greaterOrEqual: return .test(path, ["$gte": value])
        case .less: return .test(path, excludingNaN(value) + ["$lt": value])
        case .lessOrEqual: return .test(path, excludingNaN(value) + ["$lte": value])
        }
    }

    /// A comparison with a value that documents hold in one of several forms.
    static func compare(_ path: FieldPath, _ relation: Relation, forms: [BSONValue]) -> Clause {
        switch relation {
        case .equal where forms.count > 1: isOne(path, of: forms)
        case .notEqual where forms.count > 1: !isOne(path, of: forms)
        default: compare(path, relation, forms[0])
        }
    }

    /// `$eq` with an empty array would also match an array that contains one.
    private static func equal(_ path: FieldPath, _ value: BSONValue) -> Clause {
        value.isNull ? !isPresent(path) : .test(path, value.isEmptyArray ? ["$size": 0] : ["$eq": value])
    }

    /// In documents NaN is less than all numbers; in Swift it is not.
    private static func excludingNaN(_ value: BSONValue) -> BSONDocument {
        if case .double = value { ["$gte": .double(-.infinity)] } else { [:] }
    }

    /// The value is one of some.
    static func isOne(_ path: FieldPath, of values: [BSONValue]) -> Clause {
        let others = values.filter { !$0.hasNaN && !$0.isEmptyArray }
        let isOther: Clause = others.isEmpty ? .constant(false) : .test(path, ["$in": BSONValue(others)])
        return values.contains(where: \.isEmptyArray) ? isOther || equal(path, []) : isOther
    }

    /// The value exists and is not null; the first element of an array exists.
    static func isPresent(_ path: FieldPath) -> Clause {
        // A document in the array lacks a field "0", which $eq would take for null.
        path.isElement ? .test(path, ["$exists": true]) : .not(.test(path, ["$eq": .null]))
    }
}

extension BSONValue {
    fileprivate var isEmptyArray: Bool { arrayValue?.isEmpty ?? false }

    /// Whether it is NaN or an array with one, so that in Swift it does not even equal itself.
    fileprivate var hasNaN: Bool {
        switch self {
        case .double(let number): number.isNaN
        case .array(let elements): elements.contains(where: \.hasNaN)
        default: false
        }
    }
}

extension BSONDocument {
    fileprivate static func + (a: BSONDocument, b: BSONDocument) -> BSONDocument {
        BSONDocument(a.map { ($0.key, $0.value) } + b.map { ($0.key, $0.value) })
    }
}

// MARK: - Arrays

extension Clause {
    private static let largestCount = 100

    /// The array at a path contains a value.
    static func contains(_ path: FieldPath, _ value: BSONValue) -> Clause {
        let isPlain =
            switch value {
            // A plain comparison would compare the array itself with these.
            case .array, .null, .document: false
            // A plain comparison does not descend into an array that is an element itself.
            default: !path.keys.isEmpty
            }
        if isPlain { return compare(path, .equal, value) }
        return .element(path, compare(path.element, .equal, value))
    }

    /// The array at a path contains a value, in one of its forms.
    static func contains(_ path: FieldPath, forms: [BSONValue]) -> Clause {
        forms.reduce(.constant(false)) { $0 || contains(path, $1) }
    }

    /// Compares the number of elements. Where there is no array it is nil, which is unequal to every number.
    static func count(_ path: FieldPath, _ relation: Relation, _ count: Int) -> Clause {
        guard count <= largestCount else {
            return .failure(
                TansuError(
                    .invalidQuery,
                    "The number of elements can be compared with at most \(largestCount); filter the results in Swift",
                    context: path.keys.joined(separator: ".")))
        }
        let isArray = Clause.test(path, ["$type": "array"])
        switch relation {
        case .equal: return size(path, count..<count + 1)
        case .notEqual: return !size(path, count..<count + 1)
        case .less: return size(path, 0..<max(count, 0))
        case .lessOrEqual: return size(path, 0..<max(count + 1, 0))
        case .greater: return isArray && !size(path, 0..<max(count + 1, 0))
        case .greaterOrEqual: return isArray && !size(path, 0..<max(count, 0))
        }
    }

    /// There is an array, and some element matches a clause.
    static func someElement(_ path: FieldPath, of type: any Any.Type, _ clause: Clause) -> Clause {
        switch clause {
        case _ where type is any OptionalValue.Type && clause.testsFields(at: path.depth + 1):
            // A query tests fields only of elements that are documents, and null is none.
            .failure(
                TansuError(
                    .invalidQuery,
                    "A query cannot test properties of elements that may be nil; filter the results in Swift",
                    context: path.keys.joined(separator: ".")))
        case .constant(true): count(path, .greater, 0)
        case .constant(false), .failure: clause
        default: Clause.element(path, clause).bounded
        }
    }

    /// There is an array, and all its elements match a clause.
    static func allElements(_ path: FieldPath, of type: any Any.Type, _ clause: Clause) -> Clause {
        .test(path, ["$type": "array"]) && !someElement(path, of: type, !clause)
    }

    private static func size(_ path: FieldPath, _ range: Range<Int>) -> Clause {
        range.filter { $0 >= 0 }.reduce(.constant(false)) { $0 || .test(path, ["$size": BSONValue($1)]) }
    }
}
