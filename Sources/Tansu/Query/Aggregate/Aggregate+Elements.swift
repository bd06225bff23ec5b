// Aggregates of a property in the elements of arrays: `.sum(\.lines.quantity)`.
extension Database.Aggregate {
    private static func ofElements<Property>(
        _ name: String, _ keyPath: KeyPath<Database.ElementPath<Element>, Database.ElementPath<Property>>
    ) -> Self where Value: Decodable {
        let property = ReadOnlyKeyPath(keyPath: keyPath)
        return Self(name, { try $0.operand(property.keyPath, of: name) }) {
            try QueryCoding.decoded($0, isComputed: name == "$sum" || name == "$avg")
        }
    }

    /// The least value of a property in the elements of arrays; nil when there is none.
    @_disfavoredOverload
    public static func min<Found: Decodable>(
        _ keyPath: KeyPath<Database.ElementPath<Element>, Database.ElementPath<Found>>
    ) -> Self where Value == Found? {
        ofElements("$min", keyPath)
    }

    /// The greatest value of a property in the elements of arrays; nil when there is none.
    @_disfavoredOverload
    public static func max<Found: Decodable>(
        _ keyPath: KeyPath<Database.ElementPath<Element>, Database.ElementPath<Found>>
    ) -> Self where Value == Found? {
        ofElements("$max", keyPath)
    }

    /// The distinct values of a property in the elements of arrays.
    @_disfavoredOverload
    public static func distinct<Found: Decodable>(
        _ keyPath: KeyPath<Database.ElementPath<Element>, Database.ElementPath<Found>>
    ) -> Self where Value == [Found] {
        ofElements("$distinct", keyPath)
    }
}

extension Database.Aggregate where Value: Numeric & Decodable {
    /// The sum of a property's numbers in the elements of arrays, exact and rounded once.
    @_disfavoredOverload
    public static func sum(
        _ keyPath: KeyPath<Database.ElementPath<Element>, Database.ElementPath<Value>>
    ) -> Self {
        ofElements("$sum", keyPath)
    }
}

extension Database.Aggregate where Value == Double? {
    /// The mean of a property's numbers in the elements of arrays, exact and rounded once; nil when there are none.
    @_disfavoredOverload
    public static func average<Property>(
        _ keyPath: KeyPath<Database.ElementPath<Element>, Database.ElementPath<Property>>
    ) -> Self {
        ofElements("$avg", keyPath)
    }
}

extension Database.Query {
    /// The path of a property in the elements of arrays as the operand of an aggregate.
    fileprivate func operand<Value>(
        _ keyPath: KeyPath<Database.ElementPath<Element>, Database.ElementPath<Value>>, of aggregate: String
    ) throws -> BSONValue {
        if Self.isOrdered(aggregate) { try StoredOrder.check(Value.self, codec.strategies, at: keyPath.shown) }
        return .string(try path(of: keyPath))
    }
}
