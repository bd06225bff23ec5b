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
