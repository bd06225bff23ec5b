/// Reads fields of a document that are mostly asked for in the order in which it has them: the search for each begins
/// after the one before. Each is to be asked for once.
package struct OrderedFields {
    private let bytes: UnsafeRawBufferPointer
    /// The offset after the field that was found last.
    private var offset = 4
    /// Whether there are fields before `offset` that were not asked for.
    private var hasSkipped = false

    fileprivate init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// The value of the field with a key, wherever it is; nil when there is none.
    package mutating func value(_ key: StaticString) -> BSONValue? {
        if let found = element(key, from: offset, to: bytes.documentEnd) {
            hasSkipped = hasSkipped || found.start != offset
            offset = found.valueEnd
            return bytes.value(found)
        }
        guard hasSkipped else { return nil }
        return element(key, from: 4, to: offset).flatMap { bytes.value($0) }
    }

    private func element(_ key: StaticString, from start: Int, to end: Int) -> RawElement? {
        let wanted = UnsafeBufferPointer(start: key.utf8Start, count: key.utf8CodeUnitCount)
        var offset = start
        while offset < end, let element = bytes.element(at: offset, end: bytes.documentEnd) {
            if element.keyLength == wanted.count, bytes.hasBytes(wanted, at: element.keyStart) { return element }
            offset = element.valueEnd
        }
        return nil
    }
}

extension BSONDocument {
    /// Calls a closure with a reader of the fields, which must not escape.
    package func withOrderedFields<Result>(_ body: (inout OrderedFields) throws -> Result) rethrows -> Result {
        try bytes.withUnsafeBytes { bytes in
            var fields = OrderedFields(bytes)
            return try body(&fields)
        }
    }
}
