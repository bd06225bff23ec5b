extension BSONValue: CustomStringConvertible {
    /// The value as relaxed extended JSON, with UUIDs as `{"$uuid":"6BA7B810-…"}`.
    public var description: String { text(.relaxed, isPretty: false, showsUUIDs: true) }
}

extension BSONDocument: CustomStringConvertible {
    /// The document as relaxed extended JSON, with UUIDs as `{"$uuid":"6BA7B810-…"}`.
    public var description: String { BSONValue.document(self).description }
}

extension BSONArray: CustomStringConvertible {
    /// The array as relaxed extended JSON, with UUIDs as `{"$uuid":"6BA7B810-…"}`.
    public var description: String { BSONValue.array(self).description }
}
