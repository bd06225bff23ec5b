extension Database.Pipeline {
    /// A field of a group: its operator and what it is computed of.
    ///
    /// Each takes an expression, such as `"$age"`, or a property. One that has no function is a document:
    /// `["$median": ["input": "$age", "method": "approximate"]]`.
    public struct Accumulator: Sendable {
        let document: @Sendable (Database.Query<Element>) throws -> BSONDocument

        fileprivate init(_ name: String, _ expression: BSONValue) {
            document = { _ in [name: expression] }
        }

        fileprivate init<Value>(_ name: String, _ keyPath: KeyPath<Element, Value>) {
            let property = ReadOnlyKeyPath(keyPath: keyPath)
            document = {
                if Database.Query<Element>.isOrdered(name) { try $0.checkOrder(of: property.keyPath) }
                return [name: try $0.fieldExpression(property.keyPath)]
            }
        }
    }
}

extension Database.Pipeline.Accumulator: ExpressibleByDictionaryLiteral {
    /// An accumulator as a document with one member, its operator.
    public init(dictionaryLiteral members: (String, BSONValue)...) {
        let operation = BSONDocument(members)
        document = { _ in operation }
    }
}

extension Database.Pipeline.Accumulator {
    /// How many documents there are.
    public static var count: Self { Self("$sum", 1) }

    /// The sum of the numbers.
    public static func sum(_ expression: BSONValue) -> Self { Self("$sum", expression) }

    /// The sum of a property's numbers.
    public static func sum<Value>(_ keyPath: KeyPath<Element, Value>) -> Self { Self("$sum", keyPath) }

    /// The mean of the numbers; null when there are none.
    public static func average(_ expression: BSONValue) -> Self { Self("$avg", expression) }

    /// The mean of a property's numbers; null when there are none.
    public static func average<Value>(_ keyPath: KeyPath<Element, Value>) -> Self { Self("$avg", keyPath) }

    /// The least value; null when there is none.
    public static func min(_ expression: BSONValue) -> Self { Self("$min", expression) }

    /// The least value of a property; null when there is none.
    public static func min<Value>(_ keyPath: KeyPath<Element, Value>) -> Self { Self("$min", keyPath) }

    /// The greatest value; null when there is none.
    public static func max(_ expression: BSONValue) -> Self { Self("$max", expression) }

    /// The greatest value of a property; null when there is none.
    public static func max<Value>(_ keyPath: KeyPath<Element, Value>) -> Self { Self("$max", keyPath) }

    /// The value of the first document, in the order of the stage before.
    public static func first(_ expression: BSONValue) -> Self { Self("$first", expression) }

    /// The property of the first document, in the order of the stage before.
    public static func first<Value>(_ keyPath: KeyPath<Element, Value>) -> Self { Self("$first", keyPath) }

    /// The value of the last document, in the order of the stage before.
    public static func last(_ expression: BSONValue) -> Self { Self("$last", expression) }

    /// The property of the last document, in the order of the stage before.
    public static func last<Value>(_ keyPath: KeyPath<Element, Value>) -> Self { Self("$last", keyPath) }

    /// An array of the values of all documents.
    public static func push(_ expression: BSONValue) -> Self { Self("$push", expression) }

    /// An array of a property of all documents.
    public static func push<Value>(_ keyPath: KeyPath<Element, Value>) -> Self { Self("$push", keyPath) }

    /// An array of the distinct values, in no particular order.
    public static func addToSet(_ expression: BSONValue) -> Self { Self("$addToSet", expression) }

    /// An array of the distinct values of a property, in no particular order.
    public static func addToSet<Value>(_ keyPath: KeyPath<Element, Value>) -> Self { Self("$addToSet", keyPath) }
}
