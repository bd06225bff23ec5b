/// An array of values, stored as one contiguous sequence of bytes in BSON's wire format.
///
/// Access to an element by position takes linear time. Iteration over all elements takes linear time as well.
public struct BSONArray: Sendable {
    // An array is stored as a document whose keys are "0", "1", ….
    package private(set) var document: BSONDocument

    /// Creates an empty array.
    public init() { document = BSONDocument() }

    /// Creates an array of values.
    public init(_ values: some Sequence<BSONValue>) {
        var buffer = ByteBuffer(capacity: 128)
        let start = buffer.openDocument()
        for (index, value) in values.enumerated() {
            buffer.append(value.type.rawValue)
            buffer.append(arrayKey: index)
            buffer.append(value)
        }
        buffer.closeDocument(at: start)
        document = BSONDocument(trustedBytes: buffer.array())
    }

    /// For arrays, of which a generic function would read each element by a call.
    package init(_ values: [BSONValue]) {
        var buffer = ByteBuffer(capacity: 32 * values.count + 16)
        let start = buffer.openDocument()
        for index in values.indices {
            buffer.append(values[index].type.rawValue)
            buffer.append(arrayKey: index)
            buffer.append(values[index])
        }
        buffer.closeDocument(at: start)
        document = BSONDocument(trustedBytes: buffer.array())
    }

    package init(document: BSONDocument) { self.document = document }

    /// Adds a value at the end.
    public mutating func append(_ value: BSONValue) {
        document.append(value, key: String(count))
    }
}

extension BSONArray: Collection {
    /// The elements, one after another.
    public struct Iterator: IteratorProtocol, Sendable {
        var fields: BSONDocument.Iterator

        /// The next element.
        public mutating func next() -> BSONValue? { fields.next()?.value }
    }

    /// An iterator over the elements.
    public func makeIterator() -> Iterator { Iterator(fields: document.makeIterator()) }

    /// The number of elements. It takes linear time.
    public var count: Int { document.count }

    /// The index of an element in an array.
    public struct Index: Sendable, Hashable, Comparable {
        let base: BSONDocument.Index

        /// Whether one index is before another.
        public static func < (a: Index, b: Index) -> Bool { a.base < b.base }
    }

    /// The index of the first element.
    public var startIndex: Index { Index(base: document.startIndex) }

    /// The index after the last element.
    public var endIndex: Index { Index(base: document.endIndex) }

    /// The index after that of an element.
    public func index(after index: Index) -> Index {
        Index(base: document.index(after: index.base))
    }

    /// The element at an index.
    public subscript(index: Index) -> BSONValue { document[index.base].value }

    /// The element at a position counted from 0, or nil when there is none.
    public subscript(position: Int) -> BSONValue? {
        guard position >= 0 else { return nil }
        return dropFirst(position).first
    }

    /// Whether there are no elements.
    public var isEmpty: Bool { document.isEmpty }
}

extension BSONArray: Hashable {
    /// Whether two arrays have the same elements, byte for byte.
    public static func == (a: BSONArray, b: BSONArray) -> Bool { a.document == b.document }

    /// Feeds the bytes to the hasher.
    public func hash(into hasher: inout Hasher) { document.hash(into: &hasher) }
}

extension BSONArray: ExpressibleByArrayLiteral {
    /// Creates an array of the literal's values.
    public init(arrayLiteral elements: BSONValue...) { self.init(elements) }
}
