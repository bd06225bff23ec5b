extension Database.Query {
    /// Those of the same documents that also match a condition on the properties of their type.
    ///
    /// - Parameter condition: The condition. It runs once, to build the query.
    /// - Throws: As `find` with a condition.
    public func and(_ condition: (Database.Field<Element>) -> Database.Condition) throws -> Self {
        and(try ownCollection.find(condition))
    }

    /// The same documents sorted by a property. Further calls add less significant sort keys.
    ///
    /// - Parameters:
    ///   - keyPath: The property: `\.age`, `\.pet?.species`.
    ///   - direction: The least or the greatest first.
    /// - Throws: ``TansuError`` with `.invalidQuery`: the stored name of the property is not known
    ///   (see ``StoredFieldNaming``).
    public func sorted<Value>(
        by keyPath: KeyPath<Element, Value>, _ direction: SortDirection = .ascending
    ) throws -> Self {
        try checkOrder(of: keyPath)
        return sorted(by: try path(of: keyPath), direction)
    }

    /// The dotted path of a property of the documents.
    func path<Value>(of keyPath: KeyPath<Element, Value>) throws -> String {
        let names = NamingScope(session, collection, codec.strategies)
        let path = try names.path(of: keyPath, in: .document).dotted()
        try names.verify(filter)
        return path
    }
}
