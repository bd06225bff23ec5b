extension Database.Collection {
    /// The documents that meet a condition on the properties of their type, once they are asked for.
    ///
    /// For example:
    ///
    /// ```swift
    /// let cats = try people.find { $0.pet.species == "cat" && $0.age > 10 }
    ///     .sorted(by: \.age, .descending)
    ///     .limit(10)
    ///     .all()
    /// ```
    ///
    /// The query's `filter` is the document that says the same, for every call that takes one:
    /// `try people.remove(people.find { $0.age < 13 }.filter)`.
    ///
    /// - Parameter condition: Which documents. It is run once, to make the query.
    /// - Throws: ``TansuError`` with `.invalidQuery`: the stored name of a property is not known
    ///   (see ``StoredFieldNaming``), or a value cannot be stored.
    public func find(
        _ condition: (Database.Field<Element>) -> Database.Condition
    ) throws -> Database.Query<Element> {
        find(try condition(Database.Field(.document)).clause.document())
    }
}
