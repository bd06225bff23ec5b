extension BSONValue: ExpressibleByStringLiteral {
    /// A string value.
    public init(stringLiteral value: String) { self = .string(value) }
}

// The compiler requires this conformance for literals with interpolations.
extension BSONValue: ExpressibleByStringInterpolation {}

extension BSONValue: ExpressibleByIntegerLiteral {
    /// An int32 value when the number fits, otherwise an int64 value.
    public init(integerLiteral value: Int64) { self.init(value) }
}

extension BSONValue: ExpressibleByFloatLiteral {
    /// A double value.
    public init(floatLiteral value: Double) { self = .double(value) }
}

extension BSONValue: ExpressibleByBooleanLiteral {
    /// A boolean value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension BSONValue: ExpressibleByNilLiteral {
    /// The null value.
    public init(nilLiteral: ()) { self = .null }
}

extension BSONValue: ExpressibleByArrayLiteral {
    /// An array value.
    public init(arrayLiteral elements: BSONValue...) { self = .array(BSONArray(elements)) }
}

extension BSONValue: ExpressibleByDictionaryLiteral {
    /// A document value with the fields in the order of the literal.
    public init(dictionaryLiteral elements: (String, BSONValue)...) { self = .document(BSONDocument(elements)) }
}
