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
        case .equal: return .test(place, ["$eq": value])
        case .notEqual: return .not(.test(place, ["$eq": value]))
        case .greater: return .test(place, ["$gt": value])
        case .greaterOrEqual: return .test(place, ["$gte": value])
        case .less: return .test(place, belowNothing(value) + ["$lt": value])
        case .lessOrEqual: return .test(place, belowNothing(value) + ["$lte": value])
        }
    }

    /// In documents NaN is below all numbers; in Swift it is not.
    private static func belowNothing(_ value: BSONValue) -> BSONDocument {
        if case .double = value { ["$gte": .double(-.infinity)] } else { [:] }
    }

    /// The value is one of some.
    static func isOne(_ place: FieldPlace, of values: [BSONValue]) -> Clause {
        let values = values.filter { !$0.hasNaN }
        return values.isEmpty ? .constant(false) : .test(place, ["$in": BSONValue(values)])
    }

    /// The value is there and not null.
    static func isPresent(_ place: FieldPlace) -> Clause {
        .not(.test(place, ["$eq": .null]))
    }
}

extension BSONValue {
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
