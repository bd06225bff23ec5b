/// Encodes the values in a query as they are stored, so that they can be compared.
enum QueryCoding {
    /// The encoder of collections of Codable types.
    static let encoder = BSONEncoder()

    /// The strategies of the collection for which a query is made.
    ///
    /// Conditions are made by closures of the user, from operators that know no collection.
    @TaskLocal static var strategies = BSONCodingStrategies()

    /// The value as a document holds it; nil as null.
    static func value(of operand: any Encodable) throws -> BSONValue {
        do {
            var encoder = encoder
            encoder.strategies = strategies
            return try encoder.encodeValue(operand)
        } catch {
            throw TansuError(
                .invalidQuery, "A value in the query cannot be stored: \(failureReason(of: error))",
                context: safeDescription(of: operand))
        }
    }

    /// A value of a result, such as an aggregate.
    ///
    /// - Parameter isComputed: Whether it is computed of several values, so that a `Double` of it is rounded.
    static func decoded<Value: Decodable>(_ value: BSONValue, isComputed: Bool = false) throws -> Value {
        var decoder = BSONDecoder()
        decoder.strategies = strategies
        if isComputed { decoder.doubleStrategy = .rounded }
        return try decoder.decodeValue(Value.self, from: value)
    }
}

extension DocumentCodec {
    /// Runs a closure that makes a query for the collection, or decodes its results.
    func coding<Result>(_ body: () throws -> Result) rethrows -> Result {
        strategies.isStandard ? try body() : try QueryCoding.$strategies.withValue(strategies, operation: body)
    }
}

/// An optional of any type.
protocol OptionalValue {
    /// The type of the wrapped value.
    static var wrappedType: any Any.Type { get }

    /// The wrapped value, if any.
    var content: Any? { get }
}

extension Optional: OptionalValue {
    static var wrappedType: any Any.Type { Wrapped.self }

    var content: Any? { self }
}
