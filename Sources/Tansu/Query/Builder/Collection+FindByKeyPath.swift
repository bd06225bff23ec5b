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
        let names = scope
        let filter = try names.coding { try condition(Database.Field(.document, names)).clause.document() }
        return try find(stored: filter, names)
    }

    /// A query for documents that match a filter with its values as they are stored.
    package func find(stored filter: BSONDocument) -> Database.Query<Element> {
        Database.Query(session: session, collection: name, codec: codec, filter: filter, hints: [:])
    }

    /// The same with the names in the filter, which are compared with documents.
    func find(stored filter: BSONDocument, _ names: NamingScope) throws -> Database.Query<Element> {
        try names.verify(filter)
        var query = find(stored: filter)
        if !names.isSettled { query.names = [names] }
        return query
    }
}
