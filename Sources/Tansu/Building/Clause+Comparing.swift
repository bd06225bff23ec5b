/// How two values compare.
enum Relation: Sendable {
    case equal
    case notEqual
    case less
    case lessOrEqual
    case greater
    case greaterOrEqual

    /// The same of the values in turned order.
    var turned: Relation {
        switch self {
        case .equal, .notEqual: self
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        }
    }

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
    /// A comparison with a value as Swift means it: nil equals nil, NaN equals nothing and is below nothing.
    static func compare(_ place: FieldPlace, _ relation: Relation, _ value: BSONValue) -> Clause {
        if value.hasNaN { return .constant(relation == .notEqual) }
        switch relation {
        case .equal: return equal(place, value)
        case .notEqual: return !equal(place, value)
        case .greater: return .test(place, ["$gt": value])
        case .greaterOrEqual: return .test(place, ["$gte": value])
        case .less: return .test(place, belowNothing(value) + ["$lt": value])
        case .lessOrEqual: return .test(place, belowNothing(value) + ["$lte": value])
        }
    }

    /// An empty array would also be found as an element of an array of arrays.
    private static func equal(_ place: FieldPlace, _ value: BSONValue) -> Clause {
        .test(place, value.isEmptyArray ? ["$size": 0] : ["$eq": value])
    }

    /// In documents NaN is below all numbers; in Swift it is not.
    private static func belowNothing(_ value: BSONValue) -> BSONDocument {
        if case .double = value { ["$gte": .double(-.infinity)] } else { [:] }
    }

    /// The value is one of some.
    static func isOne(_ place: FieldPlace, of values: [BSONValue]) -> Clause {
        let others = values.filter { !$0.hasNaN && !$0.isEmptyArray }
        let isOther: Clause = others.isEmpty ? .constant(false) : .test(place, ["$in": BSONValue(others)])
        return values.contains(where: \.isEmptyArray) ? isOther || equal(place, []) : isOther
    }

    /// The value is there and not null.
    static func isPresent(_ place: FieldPlace) -> Clause {
        .not(.test(place, ["$eq": .null]))
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
