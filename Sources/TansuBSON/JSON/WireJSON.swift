/// How types that JSON lacks are written for a database without them.
package enum WireJSONForm: Sendable, Hashable {
    /// As relaxed extended JSON, which is read as the same type again.
    case extended
    /// As JSON that people expect: dates as ISO 8601, binary as base64, ids as hex digits. The types are lost.
    case plain
}

extension BSONValue {
    /// Creates a value from JSON text of a database that has JSON's types only.
    ///
    /// A `$…` object becomes a value of another type if that value is written as the same object; all others are plain
    /// objects. Of several equal keys the last wins, in the position of the first. An integer beyond 64 bits of up to 34
    /// digits becomes a decimal.
    ///
    /// - Parameter documentDepth: Down to which depth objects are never values of another type: 1 for a document.
    /// - Throws: ``BSONError`` with line and column when the text is invalid.
    package init(wireJSON utf8: some Collection<UInt8>, documentDepth: Int) throws {
        let parsed = try utf8.withContiguousStorageIfAvailable {
            try ExtendedJSONParser.parse($0, .wire, documentDepth: documentDepth)
        }
        self =
            try parsed
            ?? Array(utf8).withUnsafeBufferPointer {
                try ExtendedJSONParser.parse($0, .wire, documentDepth: documentDepth)
            }
    }
}

extension Decimal128 {
    /// The digits of an integer that 64 bits cannot hold, which the wire has as a JSON number.
    var wireInteger: String? {
        guard !isNaN, !isInfinite else { return nil }
        let text = description
        let isInteger = text.utf8.allSatisfy { $0 == UInt8(ascii: "-") || ($0 >= 0x30 && $0 <= 0x39) }
        return isInteger && Int64(text) == nil ? text : nil
    }
}
