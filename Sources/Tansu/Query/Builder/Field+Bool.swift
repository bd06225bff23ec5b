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
