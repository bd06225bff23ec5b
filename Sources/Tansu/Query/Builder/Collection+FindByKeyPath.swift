extension Database.Collection {
    /// A query for the documents that match a condition on the properties of their type.
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
    /// The query's `filter` is the equivalent document, without order and limit; `remove(_:)` and `update(_:_:)` take
    /// the query itself.
    ///
    /// - Parameter condition: The condition. It runs once, to build the query.
    /// - Throws: ``TansuError`` with `.invalidQuery`: the stored name of a property is not known
    ///   (see ``StoredFieldNaming``), or a value cannot be stored; `.tooLarge` for conditions that are nested too deep.
    public func find(
        _ condition: (Database.Field<Element>) -> Database.Condition
    ) throws -> Database.Query<Element> {
        let names = NamingScope(session, name)
        let filter = try codec.coding { try condition(Database.Field(.document, names)).clause.document() }
        try names.verify(filter)
        return find(filter)
    }
}
