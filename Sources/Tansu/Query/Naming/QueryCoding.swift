/// Encodes the values in a query as they are stored, so that they can be compared.
enum QueryCoding {
    /// The encoder of collections of Codable types.
    static let encoder = BSONEncoder()

    /// The value as a document holds it; nil as null.
    static func value(of operand: any Encodable) throws -> BSONValue {
        do {
            return try encoder.encodeValue(operand)
        } catch {
            throw TansuError(.invalidQuery, "A value in the query cannot be stored: \(error)", context: "\(operand)")
        }
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
