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
