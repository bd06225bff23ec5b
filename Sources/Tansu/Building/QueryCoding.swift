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
    /// What there is, if anything.
    var content: Any? { get }
}

extension Optional: OptionalValue {
    var content: Any? { self }
}
