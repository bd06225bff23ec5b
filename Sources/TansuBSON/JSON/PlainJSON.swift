extension BSONValue {
    /// Creates a value from plain JSON text in which `$…` keys have no meaning, as other databases read it.
    ///
    /// Of several equal keys the last wins, in the position of the first. An integer beyond 64 bits of up to 34 digits becomes
    /// a decimal, so that it keeps its value.
    ///
    /// - Throws: ``BSONError`` with line and column when the text is invalid.
    package init(plainJSON text: String) throws {
        try self.init(plainJSON: text.utf8)
    }

    /// Creates a value from plain JSON text in UTF-8, in which `$…` keys have no meaning.
    ///
    /// - Throws: ``BSONError`` with line and column when the text is invalid.
    package init(plainJSON utf8: some Collection<UInt8>) throws {
        let parsed = try utf8.withContiguousStorageIfAvailable { try ExtendedJSONParser.parse($0, .plain) }
        self = try parsed ?? Array(utf8).withUnsafeBufferPointer { try ExtendedJSONParser.parse($0, .plain) }
    }
}
