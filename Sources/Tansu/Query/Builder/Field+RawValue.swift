// `rawValue` is no stored property: a type with one is stored as its raw value.
extension Database.Field where Value: RawRepresentable & Codable {
    /// The raw value, such as the number of an enum: `$0.priority.rawValue >= 2`. That is what is stored for
    /// the value.
    public var rawValue: Database.Field<Value.RawValue> {
        field { try names.rawValuePath(of: Value.self, in: $0) }
    }
}

extension Database.Field where Value: QueryOptionalRawValue {
    /// The raw value of the value where there is one.
    public var rawValue: Database.Field<Value.QueryRepresentation.RawValue?> {
        field { try names.rawValuePath(of: Value.QueryRepresentation.self, in: $0) }
    }
}

/// A value with a raw value that may be missing.
public protocol QueryOptionalRawValue {
    /// The type of the wrapped value.
    associatedtype QueryRepresentation: RawRepresentable & Codable
}

extension Optional: QueryOptionalRawValue where Wrapped: RawRepresentable & Codable {
    /// The type of the wrapped value.
    public typealias QueryRepresentation = Wrapped
}
