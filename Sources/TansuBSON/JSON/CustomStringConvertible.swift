extension BSONValue: CustomStringConvertible {
    /// The value as relaxed extended JSON.
    public var description: String { extendedJSON(.relaxed) }
}

extension BSONDocument: CustomStringConvertible {
    /// The document as relaxed extended JSON.
    public var description: String { extendedJSON(.relaxed) }
}

extension BSONArray: CustomStringConvertible {
    /// The array as relaxed extended JSON.
    public var description: String { BSONValue.array(self).description }
}
