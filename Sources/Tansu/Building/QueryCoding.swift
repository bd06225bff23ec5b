/// How the values in a query are stored, so that they can be compared with stored ones.
enum QueryCoding {
    /// As collections of Codable types encode.
    static let encoder = BSONEncoder()

    /// The value as a document holds it; nil as null.
    static func value(of operand: any Encodable) throws -> BSONValue {
        do {
            return try encoder.encodeValue(operand)
        } catch {
            throw TansuError(.invalidQuery, "a value in the query cannot be stored: \(error)", context: "\(operand)")
        }
    }
}

/// An optional of any type.
protocol OptionalValue {
    /// The type of what it may hold.
    static var wrappedType: any Any.Type { get }

    /// Whether there is nothing.
    var isNil: Bool { get }
}

extension Optional: OptionalValue {
    static var wrappedType: any Any.Type { Wrapped.self }
    var isNil: Bool { self == nil }
}
