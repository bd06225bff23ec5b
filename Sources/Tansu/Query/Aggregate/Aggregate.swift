public import Foundation

extension Database {
    /// An aggregate of a group of documents, such as their number or the sum of a property.
    ///
    /// Of an array every element counts, except for ``first(_:)-(KeyPath<Element,Found>)`` and the last.
    public struct Aggregate<Element: Sendable, Value: Sendable>: Sendable {
        /// The operator and its operand, for a query that the aggregate is computed of.
        let operation: @Sendable (Query<Element>) throws -> BSONDocument
        let decode: @Sendable (BSONValue) throws -> Value

        init(
            _ name: String, _ operand: @escaping @Sendable (Query<Element>) throws -> BSONValue,
            decode: @escaping @Sendable (BSONValue) throws -> Value
        ) {
            operation = { [name: try operand($0)] }
            self.decode = decode
        }

        private static func ofPath<Property>(
            _ name: String, _ keyPath: KeyPath<Element, Property>
        ) -> Self where Value: Decodable {
            let property = ReadOnlyKeyPath(keyPath: keyPath)
            return Self(name, { try $0.operand(property.keyPath, of: name) }) {
                try QueryCoding.decoded($0, isComputed: name == "$sum" || name == "$avg")
            }
        }
    }
}

extension Database.Query {
    /// The path of a property as the operand of an aggregate.
    ///
    /// - Throws: ``TansuError`` with `.invalidQuery`, also where the aggregate would compare or compute with what is not
    ///   stored in the order of its type.
    fileprivate func operand<Value>(_ keyPath: KeyPath<Element, Value>, of aggregate: String) throws -> BSONValue {
        if Self.isOrdered(aggregate) { try checkOrder(of: keyPath) }
        return .string(try path(of: keyPath))
    }

    /// Whether an aggregate compares or computes with values.
    static func isOrdered(_ aggregate: String) -> Bool { ["$min", "$max", "$sum", "$avg"].contains(aggregate) }
}

extension Database.Aggregate where Value == Int {
    /// How many documents there are.
    public static var count: Self {
        Self("$count", { _ in true }) { try QueryCoding.decoded($0) }
    }
}

extension Database.Aggregate where Value == Double? {
    /// The mean of a property's numbers, added with 106 bits and then rounded; nil when there are none.
    public static func average<Property>(_ keyPath: KeyPath<Element, Property>) -> Self {
        ofPath("$avg", keyPath)
    }
}

extension Database.Aggregate where Value == Decimal? {
    /// The mean of a property's decimals, with 34 digits; nil when there are none.
    ///
    /// As `Double?` it is the nearest double.
    public static func average(_ keyPath: KeyPath<Element, Decimal>) -> Self { ofPath("$avg", keyPath) }

    /// The mean of an optional property's decimals, with 34 digits; nil when there are none.
    ///
    /// As `Double?` it is the nearest double.
    public static func average(_ keyPath: KeyPath<Element, Decimal?>) -> Self { ofPath("$avg", keyPath) }
}

extension Database.Aggregate where Value: Numeric & Decodable {
    /// The sum of a property's numbers, added with 106 bits and then rounded.
    public static func sum(_ keyPath: KeyPath<Element, Value>) -> Self { ofPath("$sum", keyPath) }

    /// The sum of an optional property's numbers, added with 106 bits and then rounded.
    public static func sum(_ keyPath: KeyPath<Element, Value?>) -> Self { ofPath("$sum", keyPath) }
}

extension Database.Aggregate {
    /// The least value of a property; nil when there is none.
    public static func min<Found: Decodable>(_ keyPath: KeyPath<Element, Found>) -> Self where Value == Found? {
        ofPath("$min", keyPath)
    }

    /// The least value of an optional property; nil when there is none.
    public static func min<Found: Decodable>(_ keyPath: KeyPath<Element, Found?>) -> Self where Value == Found? {
        ofPath("$min", keyPath)
    }

    /// The greatest value of a property; nil when there is none.
    public static func max<Found: Decodable>(_ keyPath: KeyPath<Element, Found>) -> Self where Value == Found? {
        ofPath("$max", keyPath)
    }

    /// The greatest value of an optional property; nil when there is none.
    public static func max<Found: Decodable>(_ keyPath: KeyPath<Element, Found?>) -> Self where Value == Found? {
        ofPath("$max", keyPath)
    }

    /// The property of the document that was inserted first; nil when there is none.
    public static func first<Found: Decodable>(_ keyPath: KeyPath<Element, Found>) -> Self where Value == Found? {
        ofPath("$first", keyPath)
    }

    /// The optional property of the document that was inserted first; nil when there is none.
    public static func first<Found: Decodable>(_ keyPath: KeyPath<Element, Found?>) -> Self where Value == Found? {
        ofPath("$first", keyPath)
    }

    /// The property of the document that was inserted last; nil when there is none.
    public static func last<Found: Decodable>(_ keyPath: KeyPath<Element, Found>) -> Self where Value == Found? {
        ofPath("$last", keyPath)
    }

    /// The optional property of the document that was inserted last; nil when there is none.
    public static func last<Found: Decodable>(_ keyPath: KeyPath<Element, Found?>) -> Self where Value == Found? {
        ofPath("$last", keyPath)
    }

    /// The distinct values of a property.
    public static func distinct<Found: Decodable>(_ keyPath: KeyPath<Element, Found>) -> Self where Value == [Found] {
        ofPath("$distinct", keyPath)
    }

    /// The distinct elements of a property that is an array or a set, or an optional one.
    public static func distinctElements<Found: Decodable, Elements: QueryArray>(
        _ keyPath: KeyPath<Element, Elements>
    ) -> Self where Value == [Found], Elements.QueryElement == Found {
        ofPath("$distinct", keyPath)
    }
}

// MARK: - Elements

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
    /// The sum of a property's numbers in the elements of arrays, added with 106 bits and then rounded.
    @_disfavoredOverload
    public static func sum(
        _ keyPath: KeyPath<Database.ElementPath<Element>, Database.ElementPath<Value>>
    ) -> Self {
        ofElements("$sum", keyPath)
    }
}

extension Database.Aggregate where Value == Double? {
    /// The mean of a property's numbers in the elements of arrays, added with 106 bits and then rounded; nil when there are none.
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

// MARK: - ElementPath

extension Database {
    /// A property in the elements of arrays, for aggregates and distinct values: `\.lines.quantity`.
    ///
    /// It is the root of key paths that lead through arrays and optionals without a question mark; values are never made.
    @dynamicMemberLookup
    public struct ElementPath<Value>: Sendable {
        let path: Result<FieldPath, TansuError>
        let names: NamingScope

        /// A property of the value.
        public subscript<Member>(dynamicMember keyPath: KeyPath<Value, Member>) -> ElementPath<Member> {
            member(of: keyPath) { $0 }
        }

        /// A property of the value where there is one.
        public subscript<Wrapped, Member>(
            dynamicMember keyPath: KeyPath<Wrapped, Member>
        ) -> ElementPath<Member> where Value == Wrapped? {
            member(of: keyPath) { $0 }
        }

        /// A property of each element.
        public subscript<Member>(
            dynamicMember keyPath: KeyPath<Value.QueryElement, Member>
        ) -> ElementPath<Member> where Value: QueryArray {
            member(of: keyPath) { $0.element }
        }

        private func member<Root, Member>(
            of keyPath: KeyPath<Root, Member>, in place: (FieldPath) -> FieldPath
        ) -> ElementPath<Member> {
            let path = path.flatMap { path in
                Result(catchingTansuError: { try names.path(of: keyPath, in: place(path)) })
            }
            return ElementPath<Member>(path: path, names: names)
        }
    }
}

extension Database.Query {
    /// The dotted path of a property in the elements of arrays.
    func path<Value>(
        of keyPath: KeyPath<Database.ElementPath<Element>, Database.ElementPath<Value>>
    ) throws -> String {
        let root = Database.ElementPath<Element>(path: .success(.document), names: ownCollection.scope)
        let path = try root[keyPath: keyPath].path.get()
        return try FieldPath(keys: path.outer.flatMap { $0 } + path.keys).dotted()
    }

    /// The distinct values of a property in the elements of arrays: `distinct(\.lines.product)`.
    ///
    /// - Parameter keyPath: The property.
    /// - Throws: As `aggregate(_:)`.
    @_disfavoredOverload
    public func distinct<Value: Decodable & Sendable>(
        _ keyPath: KeyPath<Database.ElementPath<Element>, Database.ElementPath<Value>>
    ) throws -> [Value] {
        try distinct(path: path(of: keyPath))
    }

    /// The distinct values of a property in the elements of arrays: `distinct(\.lines.product)`.
    ///
    /// - Parameter keyPath: The property.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @_disfavoredOverload
    public func distinct<Value: Decodable & Sendable>(
        _ keyPath: KeyPath<Database.ElementPath<Element>, Database.ElementPath<Value>>
    ) async throws -> [Value] {
        let path = try path(of: keyPath)
        return try await session.runCancellable(.read) { try self.using($0).distinct(path: path) }
    }
}
