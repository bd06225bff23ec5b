extension Database.Field where Value: QueryValue {
    /// It equals a value; nil where there is none.
    public static func == (field: Self, value: Value) -> Database.Condition {
        field.compare(.equal, value)
    }

    /// It does not equal a value.
    public static func != (field: Self, value: Value) -> Database.Condition {
        field.compare(.notEqual, value)
    }

    /// It is one of some values.
    public func `in`(_ values: [Value]) -> Database.Condition {
        isOne(of: values)
    }

    /// It is one of some values.
    public func `in`(_ values: Set<Value>) -> Database.Condition where Value: Hashable {
        isOne(of: values)
    }
}

extension Database.Field where Value: QueryComparable {
    /// It is less than a value.
    public static func < (field: Self, value: Value.QueryOperand) -> Database.Condition {
        field.compare(.less, value)
    }

    /// It is less than a value or equals it.
    public static func <= (field: Self, value: Value.QueryOperand) -> Database.Condition {
        field.compare(.lessOrEqual, value)
    }

    /// It is greater than a value.
    public static func > (field: Self, value: Value.QueryOperand) -> Database.Condition {
        field.compare(.greater, value)
    }

    /// It is greater than a value or equals it.
    public static func >= (field: Self, value: Value.QueryOperand) -> Database.Condition {
        field.compare(.greaterOrEqual, value)
    }

    /// It is one of two values or lies between them.
    public func between(_ least: Value.QueryOperand, _ greatest: Value.QueryOperand) -> Database.Condition {
        compare(.greaterOrEqual, least) && compare(.lessOrEqual, greatest)
    }

    /// It lies in a range.
    public func `in`(_ range: ClosedRange<Value.QueryOperand>) -> Database.Condition {
        between(range.lowerBound, range.upperBound)
    }

    /// It lies in a range.
    public func `in`(_ range: Range<Value.QueryOperand>) -> Database.Condition {
        compare(.greaterOrEqual, range.lowerBound) && compare(.less, range.upperBound)
    }

    /// It is a value or greater.
    public func `in`(_ range: PartialRangeFrom<Value.QueryOperand>) -> Database.Condition {
        compare(.greaterOrEqual, range.lowerBound)
    }

    /// It is a value or less.
    public func `in`(_ range: PartialRangeThrough<Value.QueryOperand>) -> Database.Condition {
        compare(.lessOrEqual, range.upperBound)
    }

    /// It is less than a value.
    public func `in`(_ range: PartialRangeUpTo<Value.QueryOperand>) -> Database.Condition {
        compare(.less, range.upperBound)
    }
}

extension Database.Field {
    func compare<Operand: Encodable>(_ relation: Relation, _ value: Operand) -> Database.Condition {
        condition { path in
            if relation.isOrder { try QueryCoding.checkOrder(of: Operand.self, at: path) }
            return .compare(path, relation, forms: try QueryCoding.forms(of: value, at: path))
        }
    }

    func isOne(of values: some Collection<some Encodable>) -> Database.Condition {
        condition { path in .isOne(path, of: try values.flatMap { try QueryCoding.forms(of: $0, at: path) }) }
    }
}

// MARK: - Bool

// A property that is true or false is a condition by itself: `$0.isActive && $0.age > 3`, `!$0.isActive`.
extension Database.Field where Value == Bool {
    /// It is true.
    var isTrue: Database.Condition { compare(.equal, true) }

    /// It is not true.
    public static prefix func ! (field: Self) -> Database.Condition { !field.isTrue }

    /// Both hold.
    public static func && (a: Self, b: Self) -> Database.Condition { a.isTrue && b.isTrue }

    /// Both hold.
    public static func && (a: Self, b: Database.Condition) -> Database.Condition { a.isTrue && b }

    /// Both hold.
    public static func && (a: Database.Condition, b: Self) -> Database.Condition { a && b.isTrue }

    /// One of the two holds, or both.
    public static func || (a: Self, b: Self) -> Database.Condition { a.isTrue || b.isTrue }

    /// One of the two holds, or both.
    public static func || (a: Self, b: Database.Condition) -> Database.Condition { a.isTrue || b }

    /// One of the two holds, or both.
    public static func || (a: Database.Condition, b: Self) -> Database.Condition { a || b.isTrue }
}

extension Database.Collection {
    /// A query for the documents in which a property is true: `people.find { $0.isActive }`.
    ///
    /// - Parameter property: The property. It runs once, to build the query.
    /// - Throws: As for a condition.
    @_disfavoredOverload
    public func find(_ property: (Database.Field<Element>) -> Database.Field<Bool>) throws -> Database.Query<Element> {
        try find { property($0).isTrue }
    }
}

extension Database.Field where Value: QueryArray {
    /// In some element a property is true: `$0.pets.contains { $0.isTame }`. False where there is no array.
    ///
    /// - Parameter property: The property of one element.
    @_disfavoredOverload
    public func contains(
        where property: (Database.Field<Value.QueryElement>) -> Database.Field<Bool>
    ) -> Database.Condition {
        contains { property($0).isTrue }
    }

    /// In all elements a property is true; true for an empty array, false where there is no array.
    ///
    /// - Parameter property: The property of each element.
    @_disfavoredOverload
    public func allSatisfy(
        _ property: (Database.Field<Value.QueryElement>) -> Database.Field<Bool>
    ) -> Database.Condition {
        allSatisfy { property($0).isTrue }
    }
}

// MARK: - Text

extension Database.Field where Value: QueryText {
    /// The text begins with another.
    public func hasPrefix(_ prefix: String) -> Database.Condition {
        condition { .test($0, ["$begin": .string(prefix)]) }
    }

    /// The text ends with another.
    public func hasSuffix(_ suffix: String) -> Database.Condition {
        condition { .test($0, ["$endsWith": .string(suffix)]) }
    }

    /// The text contains another.
    public func contains(_ part: String) -> Database.Condition {
        condition { .test($0, ["$contains": .string(part)]) }
    }

    /// The text is there and has no characters.
    public var isEmpty: Database.Condition {
        condition { .compare($0, .equal, "") }
    }

    /// A regular expression matches a part of the text.
    ///
    /// - Parameters:
    ///   - pattern: A pattern in the syntax of PCRE2, not of Swift's `Regex`.
    ///   - options: Any of the letters `i` (ignore case), `m`, `s` and `x`.
    public func matches(_ pattern: String, options: String = "") -> Database.Condition {
        condition {
            .test(
                $0,
                options.isEmpty
                    ? ["$regex": .string(pattern)] : ["$regex": .string(pattern), "$options": .string(options)])
        }
    }

    /// The text for comparisons that ignore case, by Unicode case folding: `$0.name.ignoringCase == "MIKE"`.
    public var ignoringCase: Database.CaselessText {
        Database.CaselessText(text: field { $0 })
    }
}

extension Database {
    /// A text field in a query that is compared case-insensitively.
    public struct CaselessText: Sendable {
        let text: Field<Never>

        /// The text equals another; false where there is none.
        public static func == (text: Self, value: String) -> Condition { text.condition(.string(value)) }

        /// The text does not equal another; true where there is none.
        public static func != (text: Self, value: String) -> Condition { !(text == value) }

        /// The text begins with another.
        public func hasPrefix(_ prefix: String) -> Condition { condition(["$begin": .string(prefix)]) }

        /// The text ends with another.
        public func hasSuffix(_ suffix: String) -> Condition { condition(["$endsWith": .string(suffix)]) }

        /// The text contains another.
        public func contains(_ part: String) -> Condition { condition(["$contains": .string(part)]) }

        private func condition(_ operand: BSONValue) -> Condition {
            text.condition { .test($0, ["$icase": operand]) }
        }
    }
}

// MARK: - Arrays

extension Database.Field where Value: QueryArray {
    /// Some element matches a condition: `$0.pets.contains { $0.species == "cat" && $0.age > 3 }`. False where there
    /// is no array.
    ///
    /// - Parameter condition: The condition for one element; it may test the element only.
    public func contains(
        where condition: (Database.Field<Value.QueryElement>) -> Database.Condition
    ) -> Database.Condition {
        self.condition { .someElement($0, of: Value.QueryElement.self, condition(element(of: $0)).clause) }
    }

    /// All elements match a condition; true for an empty array, false where there is no array.
    ///
    /// - Parameter condition: The condition for each element; it may test the element only.
    public func allSatisfy(
        _ condition: (Database.Field<Value.QueryElement>) -> Database.Condition
    ) -> Database.Condition {
        self.condition { .allElements($0, of: Value.QueryElement.self, condition(element(of: $0)).clause) }
    }

    /// The array exists and has no elements.
    public var isEmpty: Database.Condition {
        condition { .count($0, .equal, 0) }
    }

    /// The number of elements, which can be compared with at most 100.
    public var count: Database.ElementCount {
        Database.ElementCount(array: field { $0 })
    }

    private func element(of array: FieldPath) -> Database.Field<Value.QueryElement> {
        Database.Field<Value.QueryElement>(array.element, names)
    }
}

extension Database.Field where Value: QueryArray {
    /// The first element; nil where there is none.
    public var first: Database.Field<Value.QueryElement?> {
        field { array in
            let type: any Any.Type = (Value.self as? any OptionalValue.Type)?.wrappedType ?? Value.self
            guard !(type is any QueryUnordered.Type) else {
                throw TansuError(
                    .invalidQuery, "A set has no first element; use contains",
                    context: array.keys.joined(separator: "."))
            }
            return array.firstElement
        }
    }
}

/// What is stored as an array whose order means nothing.
protocol QueryUnordered {}

extension Set: QueryUnordered {}

extension Database.Field where Value: QueryArray, Value.QueryElement: QueryValue {
    /// Some element equals a value. False where there is no array.
    public func contains(_ value: Value.QueryElement) -> Database.Condition {
        condition { .contains($0, forms: try QueryCoding.forms(of: value, at: $0.element)) }
    }
}

extension Database.Field
where Value: QueryArray, Value.QueryElement: RawRepresentable & Encodable, Value.QueryElement.RawValue: QueryValue {
    /// Some element equals a value. False where there is no array.
    @_disfavoredOverload
    public func contains(_ value: Value.QueryElement) -> Database.Condition {
        condition { .contains($0, try QueryCoding.value(of: value)) }
    }
}

extension Database {
    /// The number of elements of an array in a query; nil where there is no array.
    public struct ElementCount: Sendable {
        /// The array, of elements of any type.
        let array: Field<Never>

        /// The number is equal.
        public static func == (count: Self, number: Int) -> Condition { count.compare(.equal, number) }

        /// The number is different, or there is no array.
        public static func != (count: Self, number: Int) -> Condition { count.compare(.notEqual, number) }

        /// The number is less.
        public static func < (count: Self, number: Int) -> Condition { count.compare(.less, number) }

        /// The number is less or equal.
        public static func <= (count: Self, number: Int) -> Condition { count.compare(.lessOrEqual, number) }

        /// The number is greater.
        public static func > (count: Self, number: Int) -> Condition { count.compare(.greater, number) }

        /// The number is greater or equal.
        public static func >= (count: Self, number: Int) -> Condition { count.compare(.greaterOrEqual, number) }

        private func compare(_ relation: Relation, _ number: Int) -> Condition {
            array.condition { .count($0, relation, number) }
        }
    }
}

// MARK: - Raw value

// `rawValue` is no stored property: a type with one is stored as its raw value.
extension Database.Field where Value: RawRepresentable & Codable {
    /// The raw value, such as the number of an enum: `$0.priority.rawValue >= 2`. That is what is stored for
    /// the value.
    public var rawValue: Database.Field<Value.RawValue> {
        field { try names.rawValuePath(of: Value.self, in: $0) }
    }
}

extension Database.Field where Value: QueryOptionalRawValue {
    /// The raw value of the value where there is one.
    public var rawValue: Database.Field<Value.QueryRepresentation.RawValue?> {
        field { try names.rawValuePath(of: Value.QueryRepresentation.self, in: $0) }
    }
}

/// A value with a raw value that may be missing.
public protocol QueryOptionalRawValue {
    /// The type of the wrapped value.
    associatedtype QueryRepresentation: RawRepresentable & Codable
}

extension Optional: QueryOptionalRawValue where Wrapped: RawRepresentable & Codable {
    /// The type of the wrapped value.
    public typealias QueryRepresentation = Wrapped
}

// MARK: - Raw representable

// Enums with raw values. Disfavoured, so that an enum that is also a QueryValue is not ambiguous.
extension Database.Field where Value: RawRepresentable & Encodable, Value.RawValue: QueryValue {
    /// It equals a value.
    @_disfavoredOverload
    public static func == (field: Self, value: Value) -> Database.Condition {
        field.compare(.equal, value)
    }

    /// It does not equal a value.
    @_disfavoredOverload
    public static func != (field: Self, value: Value) -> Database.Condition {
        field.compare(.notEqual, value)
    }

    /// It is one of some values.
    @_disfavoredOverload
    public func `in`(_ values: [Value]) -> Database.Condition {
        isOne(of: values)
    }

    /// It is one of some values.
    @_disfavoredOverload
    public func `in`(_ values: Set<Value>) -> Database.Condition where Value: Hashable {
        isOne(of: values)
    }
}

extension Database.Field where Value: RawRepresentable & Encodable, Value.RawValue: QueryComparable {
    /// Its raw value is less than that of a value.
    @_disfavoredOverload
    public static func < (field: Self, value: Value) -> Database.Condition {
        field.compare(.less, value)
    }

    /// Its raw value is less than that of a value or equals it.
    @_disfavoredOverload
    public static func <= (field: Self, value: Value) -> Database.Condition {
        field.compare(.lessOrEqual, value)
    }

    /// Its raw value is greater than that of a value.
    @_disfavoredOverload
    public static func > (field: Self, value: Value) -> Database.Condition {
        field.compare(.greater, value)
    }

    /// Its raw value is greater than that of a value or equals it.
    @_disfavoredOverload
    public static func >= (field: Self, value: Value) -> Database.Condition {
        field.compare(.greaterOrEqual, value)
    }
}

extension Database.Field {
    /// It equals a value; nil where there is none.
    @_disfavoredOverload
    public static func == <Wrapped: RawRepresentable & Encodable>(
        field: Self, value: Wrapped?
    ) -> Database.Condition where Value == Wrapped?, Wrapped.RawValue: QueryValue {
        field.compare(.equal, value)
    }

    /// It does not equal a value.
    @_disfavoredOverload
    public static func != <Wrapped: RawRepresentable & Encodable>(
        field: Self, value: Wrapped?
    ) -> Database.Condition where Value == Wrapped?, Wrapped.RawValue: QueryValue {
        field.compare(.notEqual, value)
    }

    /// It is one of some values.
    @_disfavoredOverload
    public func `in`<Wrapped: RawRepresentable & Encodable>(
        _ values: [Wrapped]
    ) -> Database.Condition where Value == Wrapped?, Wrapped.RawValue: QueryValue {
        isOne(of: values)
    }

    /// It is one of some values.
    @_disfavoredOverload
    public func `in`<Wrapped: RawRepresentable & Encodable & Hashable>(
        _ values: Set<Wrapped>
    ) -> Database.Condition where Value == Wrapped?, Wrapped.RawValue: QueryValue {
        isOne(of: values)
    }

    /// It is one of some values; nil where there is none.
    @_disfavoredOverload
    public func `in`<Wrapped: RawRepresentable & Encodable>(
        _ values: [Wrapped?]
    ) -> Database.Condition where Value == Wrapped?, Wrapped.RawValue: QueryValue {
        isOne(of: values)
    }

    /// Its raw value is less than that of a value; false where there is none.
    @_disfavoredOverload
    public static func < <Wrapped: RawRepresentable & Encodable>(
        field: Self, value: Wrapped
    ) -> Database.Condition where Value == Wrapped?, Wrapped.RawValue: QueryComparable {
        field.compare(.less, value)
    }

    /// Its raw value is less than that of a value or equals it; false where there is none.
    @_disfavoredOverload
    public static func <= <Wrapped: RawRepresentable & Encodable>(
        field: Self, value: Wrapped
    ) -> Database.Condition where Value == Wrapped?, Wrapped.RawValue: QueryComparable {
        field.compare(.lessOrEqual, value)
    }

    /// Its raw value is greater than that of a value; false where there is none.
    @_disfavoredOverload
    public static func > <Wrapped: RawRepresentable & Encodable>(
        field: Self, value: Wrapped
    ) -> Database.Condition where Value == Wrapped?, Wrapped.RawValue: QueryComparable {
        field.compare(.greater, value)
    }

    /// Its raw value is greater than that of a value or equals it; false where there is none.
    @_disfavoredOverload
    public static func >= <Wrapped: RawRepresentable & Encodable>(
        field: Self, value: Wrapped
    ) -> Database.Condition where Value == Wrapped?, Wrapped.RawValue: QueryComparable {
        field.compare(.greaterOrEqual, value)
    }
}
