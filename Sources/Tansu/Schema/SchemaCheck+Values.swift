extension BSONValue {
    /// Whether the value is of a type by its name in `type` or `bsonType`.
    func isOf(_ name: String) -> Bool {
        switch name {
        case "number": isNumber
        case "integer": int64Value != nil || integralBeyondInt64
        case "boolean", "bool": boolValue != nil
        case "object": documentValue != nil
        default: type.description == name
        }
    }

    private var integralBeyondInt64: Bool {
        if case .double(let number) = self { number.isFinite && number.rounded() == number } else { false }
    }

    /// The size that a keyword constrains; `nil` when the value is of another type.
    func size(as sized: SchemaNode.Sized) -> Int? {
        switch sized {
        case .string: stringValue?.unicodeScalars.count
        case .array: arrayValue?.count
        case .object: documentValue?.count
        }
    }

    /// The value with the fields of documents sorted, because their order does not matter in schemas.
    var withSortedKeys: BSONValue {
        switch self {
        case .document(let document):
            .document(BSONDocument(document.map { ($0.key, $0.value.withSortedKeys) }.sorted { $0.0 < $1.0 }))
        case .array(let array): .array(BSONArray(array.map(\.withSortedKeys)))
        default: self
        }
    }

    /// The value for a message, truncated.
    var short: String {
        let text = description
        return text.count > 80 ? text.prefix(80) + "…" : text
    }

    /// A key that is equal for values that are equal in the order of the database (1 and 1.0), and mostly different for
    /// others.
    fileprivate var coarse: BSONValue {
        switch self {
        case .int32, .int64, .double, .decimal128: coarseNumber
        case .document(let document): .document(BSONDocument(document.map { ($0.key, $0.value.coarse) }))
        case .array(let array): .array(BSONArray(array.map(\.coarse)))
        default: self
        }
    }

    private var coarseNumber: BSONValue {
        if let integer = int64Value { return .int64(integer) }
        let number: Double
        switch self {
        case .double(let value): number = value
        case .decimal128(let value): number = Double(value.description) ?? .nan
        default: return self
        }
        return .double(number.isNaN ? .nan : number)
    }
}

extension [BSONValue] {
    /// The positions of two elements that are equal in the database's order.
    func firstEqualPair() throws -> (Int, Int)? {
        let elements = map(\.withSortedKeys)
        var seen: [BSONValue: [Int]] = [:]
        for (number, element) in elements.enumerated() {
            let key = element.coarse
            for candidate in seen[key] ?? [] {
                if try EngineMatcher(["v": ["$eq": ["v": elements[candidate]]]]).matches(["v": ["v": element]]) {
                    return (candidate, number)
                }
            }
            seen[key, default: []].append(number)
        }
        return nil
    }
}
