extension BSONDocument: Collection {
    /// A field: its key and its value.
    public typealias Element = (key: String, value: BSONValue)

    /// The index of a field in a document.
    public struct Index: Sendable, Hashable, Comparable {
        let offset: Int

        /// Whether one index is before another.
        public static func < (a: Index, b: Index) -> Bool { a.offset < b.offset }
    }

    /// The fields, one after another.
    public struct Iterator: IteratorProtocol, Sendable {
        let bytes: [UInt8]
        var offset = 4

        /// The next field.
        public mutating func next() -> Element? {
            bytes.withUnsafeBytes { bytes in
                guard let element = bytes.element(at: offset, end: bytes.documentEnd),
                    let value = bytes.value(element)
                else { return nil }
                offset = element.valueEnd
                return (element.key(in: bytes), value)
            }
        }
    }

    /// An iterator over the fields.
    public func makeIterator() -> Iterator { Iterator(bytes: bytes) }

    /// The number of fields. It takes linear time.
    public var count: Int {
        bytes.withUnsafeBytes { bytes in
            var count = 0
            var offset = 4
            while let element = bytes.element(at: offset, end: bytes.documentEnd) {
                count += 1
                offset = element.valueEnd
            }
            return count
        }
    }

    /// The index of the first field.
    public var startIndex: Index { Index(offset: 4) }

    /// The index after the last field.
    public var endIndex: Index { Index(offset: bytes.count - 1) }

    /// The index after that of a field.
    public func index(after index: Index) -> Index {
        bytes.withUnsafeBytes { bytes in
            Index(offset: bytes.element(at: index.offset, end: bytes.documentEnd)?.valueEnd ?? bytes.documentEnd)
        }
    }

    /// The field at an index.
    public subscript(index: Index) -> Element {
        bytes.withUnsafeBytes { bytes in
            guard let element = bytes.element(at: index.offset, end: bytes.documentEnd) else {
                // As with `Array`: only a program that uses an index of another document gets here, not input.
                preconditionFailure("The index does not belong to this document")
            }
            return (element.key(in: bytes), bytes.value(element) ?? .undefined)
        }
    }

    /// Whether there are no fields.
    public var isEmpty: Bool { bytes.count <= 5 }

    /// The keys in their order.
    public var keys: [String] {
        bytes.withUnsafeBytes { bytes in
            var keys: [String] = []
            var offset = 4
            while let element = bytes.element(at: offset, end: bytes.documentEnd) {
                keys.append(element.key(in: bytes))
                offset = element.valueEnd
            }
            return keys
        }
    }

    /// The values in their order.
    public var values: [BSONValue] { map(\.value) }
}
