extension Clause {
    private static let largestCount = 100

    /// The array at a place has a value among its elements.
    static func contains(_ place: FieldPlace, _ value: BSONValue) -> Clause {
        let isPlain =
            switch value {
            // A plain comparison would take the whole array for one of these.
            case .array, .null, .document: false
            // Of an element itself it looks at the element only, not into it.
            default: !place.keys.isEmpty
            }
        if isPlain { return compare(place, .equal, value) }
        return .element(place, compare(FieldPlace(depth: place.depth + 1), .equal, value))
    }

    /// The number of elements compares so. Where there is no array it is nil, which is no number and unlike all.
    static func count(_ place: FieldPlace, _ relation: Relation, _ count: Int) -> Clause {
        guard count <= largestCount else {
            return .failure(
                TansuError(
                    .invalidQuery, "the number of elements can be compared with \(largestCount) at the most",
                    context: place.keys.joined(separator: ".")))
        }
        let isArray = Clause.test(place, ["$type": "array"])
        switch relation {
        case .equal: return size(place, count..<count + 1)
        case .notEqual: return !size(place, count..<count + 1)
        case .less: return size(place, 0..<max(count, 0))
        case .lessOrEqual: return size(place, 0..<max(count + 1, 0))
        case .greater: return isArray && !size(place, 0..<max(count + 1, 0))
        case .greaterOrEqual: return isArray && !size(place, 0..<max(count, 0))
        }
    }

    /// There is an array, and some element of a type meets a clause.
    static func someElement(_ place: FieldPlace, of type: any Any.Type, _ clause: Clause) -> Clause {
        switch clause {
        case _ where type is any OptionalValue.Type && clause.asksForFields(at: place.depth + 1):
            // A query asks for fields of the elements that are documents, and null is none.
            .failure(
                TansuError(
                    .invalidQuery, "a query cannot ask for properties of elements that may be nil",
                    context: place.keys.joined(separator: ".")))
        case .constant(true): count(place, .greater, 0)
        case .constant(false), .failure: clause
        default: .element(place, clause)
        }
    }

    /// There is an array, and all its elements, of a type, meet a clause.
    static func allElements(_ place: FieldPlace, of type: any Any.Type, _ clause: Clause) -> Clause {
        .test(place, ["$type": "array"]) && !someElement(place, of: type, !clause)
    }

    private static func size(_ place: FieldPlace, _ range: Range<Int>) -> Clause {
        range.filter { $0 >= 0 }.reduce(.constant(false)) { $0 || .test(place, ["$size": BSONValue($1)]) }
    }
}
