extension String {
    /// The bytes of a key or a regular expression, which BSON ends with a zero byte; `nil` unless it has a NUL.
    ///
    /// A NUL becomes C0 80, which is not UTF-8: whoever reads the document refuses it. Cut off at the NUL, or with another
    /// character instead, it would be another key.
    var bytesWithNUL: [UInt8]? {
        guard utf8.contains(0) else { return nil }
        return utf8.flatMap { $0 == 0 ? [0xC0, 0x80] : [$0] }
    }
}
