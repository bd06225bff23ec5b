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
