extension Database.Field where Value: QueryArray {
    /// Some element meets a condition: `$0.pets.contains { $0.species == "cat" && $0.age > 3 }`. False where there
    /// is no array.
    ///
    /// - Parameter condition: What one and the same element meets; it may ask about the element only.
    public func contains(
        where condition: (Database.Field<Value.QueryElement>) -> Database.Condition
    ) -> Database.Condition {
        self.condition { .someElement($0, of: Value.QueryElement.self, condition(Self.element(of: $0)).clause) }
    }

    /// All elements meet a condition, as they do when there are none. False where there is no array.
    ///
    /// - Parameter condition: What each element meets; it may ask about the element only.
    public func allSatisfy(
        _ condition: (Database.Field<Value.QueryElement>) -> Database.Condition
    ) -> Database.Condition {
        self.condition { .allElements($0, of: Value.QueryElement.self, condition(Self.element(of: $0)).clause) }
    }

    /// The array is there and has no elements.
    public var isEmpty: Database.Condition {
        condition { .count($0, .equal, 0) }
    }

    /// The number of elements, to be compared with one of 100 at the most.
    public var count: Database.ElementCount {
        Database.ElementCount(place: place)
    }

    private static func element(of array: FieldPlace) -> Database.Field<Value.QueryElement> {
        Database.Field<Value.QueryElement>(FieldPlace(depth: array.depth + 1))
    }
}

extension Database.Field where Value: QueryArray, Value.QueryElement: QueryValue {
    /// Some element equals a value. False where there is no array.
    public func contains(_ value: Value.QueryElement) -> Database.Condition {
        condition { .contains($0, try QueryCoding.value(of: value)) }
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
        let place: Result<FieldPlace, TansuError>

        /// There are so many.
        public static func == (count: Self, number: Int) -> Condition { count.compare(.equal, number) }

        /// There are not so many, or there is no array.
        public static func != (count: Self, number: Int) -> Condition { count.compare(.notEqual, number) }

        /// There are fewer.
        public static func < (count: Self, number: Int) -> Condition { count.compare(.less, number) }

        /// There are so many or fewer.
        public static func <= (count: Self, number: Int) -> Condition { count.compare(.lessOrEqual, number) }

        /// There are more.
        public static func > (count: Self, number: Int) -> Condition { count.compare(.greater, number) }

        /// There are so many or more.
        public static func >= (count: Self, number: Int) -> Condition { count.compare(.greaterOrEqual, number) }

        private func compare(_ relation: Relation, _ number: Int) -> Condition {
            Condition(Clause { .count(try place.get(), relation, number) })
        }
    }
}
