/// An ordered document, stored as one contiguous sequence of bytes in BSON's wire format.
///
/// A document is a value type with copy-on-write. Fields are read from the bytes on access.
///
/// For example:
/// ```swift
/// var person: BSONDocument = ["name": "mike", "pet": ["species": "cat"], "age": 12]
/// person["age"] = 13
/// person[path: "pet.species"]?.stringValue  // "cat"
/// person.name?.stringValue                  // "mike"
/// ```
///
/// A key cannot contain a NUL character in BSON. A literal and a subscript take such a key, and every call that gets the
/// document refuses it; encoding and JSON parsing throw an error for such a key.
@dynamicMemberLookup
public struct BSONDocument: Sendable {
    /// The maximum depth of nested documents in input: bytes, JSON and encoded values.
    public static let maximumDepth = 200

    static let emptyBytes: [UInt8] = [5, 0, 0, 0, 0]

    /// The document in BSON's wire format.
    public internal(set) var bytes: [UInt8]

    /// Creates an empty document.
    public init() { bytes = Self.emptyBytes }

    /// Creates a document from bytes in BSON's wire format, after validating all of them.
    ///
    /// - Throws: ``BSONError`` with the offset and the path of the field.
    public init(bytes: some Sequence<UInt8>) throws {
        let bytes = Array(bytes)
        try bytes.withUnsafeBytes { try BSONValidator.validate($0) }
        self.bytes = bytes
    }

    /// Creates a document from bytes that are known to be valid, such as a document that the engine returns.
    package init(trustedBytes bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Creates a document of fields with different keys, which have no NUL.
    package init(distinct fields: [(String, BSONValue)]) {
        var buffer = ByteBuffer(capacity: 256)
        let start = buffer.openDocument()
        for (key, value) in fields { buffer.append(field: key, value) }
        buffer.closeDocument(at: start)
        self.init(trustedBytes: buffer.array())
    }

    /// Creates a document of one field, whose key has no NUL.
    package init(key: String, value: BSONValue) {
        var buffer = ByteBuffer(capacity: 64)
        let start = buffer.openDocument()
        buffer.append(field: key, value)
        buffer.closeDocument(at: start)
        self.init(trustedBytes: buffer.array())
    }

    /// Creates a document of the fields of two documents, which have no key in common.
    package init(joining first: BSONDocument, _ second: BSONDocument) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(first.bytes.count + second.bytes.count - 5)
        bytes.append(contentsOf: first.bytes.dropLast())
        bytes.append(contentsOf: second.bytes.dropFirst(4))
        self.init(trustedBytes: bytes)
        patchLength()
    }

    /// Creates a document of the given fields in the given order. The last of several equal keys wins.
    public init(_ fields: some Sequence<(String, BSONValue)>) {
        var buffer = ByteBuffer(capacity: 128)
        let start = buffer.openDocument()
        var seen = SeenKeys()
        var repeated: [(String, BSONValue)] = []
        for (key, value) in fields {
            if seen.insert(key) {
                buffer.append(field: key, value)
            } else {
                repeated.append((key, value))
            }
        }
        buffer.closeDocument(at: start)
        self.init(trustedBytes: buffer.array())
        for (key, value) in repeated { self[key] = value }
    }

    /// Calls a closure with the document's bytes.
    ///
    /// - Parameter body: A closure that must not let the pointer escape.
    @inlinable
    public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try bytes.withUnsafeBytes(body)
    }
}

/// The keys of a document that is being made, by their bytes. Most have few, which are compared one by one: a set takes
/// longer to make.
private struct SeenKeys {
    private var few: [String] = []
    private var many: Set<BytewiseText> = []

    /// Whether the key is new.
    mutating func insert(_ key: String) -> Bool {
        guard few.count == 8 else {
            if few.contains(where: { $0.utf8.elementsEqual(key.utf8) }) { return false }
            few.append(key)
            return true
        }
        if many.isEmpty { many = few.bytewiseSet }
        return many.insert(BytewiseText(key)).inserted
    }
}

extension BSONDocument: Hashable {
    /// Whether two documents have the same fields in the same order, byte for byte.
    public static func == (a: BSONDocument, b: BSONDocument) -> Bool { a.bytes == b.bytes }

    /// Feeds the bytes to the hasher.
    public func hash(into hasher: inout Hasher) {
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
    }
}

extension BSONDocument: ExpressibleByDictionaryLiteral {
    /// Creates a document of the literal's fields in their order. The last of several equal keys wins.
    public init(dictionaryLiteral elements: (String, BSONValue)...) { self.init(elements) }
}

// MARK: - Fields

extension UnsafeRawBufferPointer {
    /// The offset of the zero byte that ends the document in these bytes.
    @inline(__always)
    var documentEnd: Int { count - 1 }

    /// The element with a key, searched from the front.
    func element(forKey key: String, from start: Int = 4) -> RawElement? {
        var text = key
        if let element = text.withUTF8({ element(forKey: $0, from: start) }) { return element }
        return key.bytesWithNUL.flatMap { $0.withUnsafeBufferPointer { element(forKey: $0, from: start) } }
    }

    private func element(forKey wanted: UnsafeBufferPointer<UInt8>, from start: Int) -> RawElement? {
        var offset = start
        while let element = element(at: offset, end: documentEnd) {
            if element.keyLength == wanted.count, hasBytes(wanted, at: element.keyStart) { return element }
            offset = element.valueEnd
        }
        return nil
    }

    @inline(__always)
    func hasBytes(_ wanted: UnsafeBufferPointer<UInt8>, at offset: Int) -> Bool {
        for i in 0..<wanted.count where self[offset &+ i] != wanted[i] { return false }
        return true
    }
}

extension BSONDocument {
    /// The value of the field with a key.
    ///
    /// Setting a value replaces the field in its position or appends a new one. Setting nil removes the field; set
    /// `.null` to store a null.
    public subscript(key: String) -> BSONValue? {
        get {
            bytes.withUnsafeBytes { bytes in
                bytes.element(forKey: key).flatMap { bytes.value($0) }
            }
        }
        set {
            if let newValue {
                setValue(newValue, forKey: key)
            } else {
                removeValue(forKey: key)
            }
        }
    }

    /// The value of the field with a key, or a default when there is none.
    public subscript(key: String, default defaultValue: @autoclosure () -> BSONValue) -> BSONValue {
        get { self[key] ?? defaultValue() }
        set { self[key] = newValue }
    }

    /// The value of the field with the name of a member: `document.name` is `document["name"]`.
    public subscript(dynamicMember key: String) -> BSONValue? {
        get { self[key] }
        set { self[key] = newValue }
    }

    /// Removes the field with a key and returns its value, or nil when there is none.
    @discardableResult
    public mutating func removeValue(forKey key: String) -> BSONValue? {
        let found = bytes.withUnsafeBytes { bytes in
            bytes.element(forKey: key).map { ($0, bytes.value($0)) }
        }
        guard let (element, value) = found else { return nil }
        bytes.removeSubrange(element.start..<element.valueEnd)
        patchLength()
        return value
    }

    /// Whether there is a field with a key, which may be null.
    public func contains(key: String) -> Bool {
        bytes.withUnsafeBytes { $0.element(forKey: key) != nil }
    }

    private mutating func setValue(_ value: BSONValue, forKey key: String) {
        guard let old = bytes.withUnsafeBytes({ $0.element(forKey: key) }) else {
            append(value, key: key)
            return
        }
        bytes.replaceSubrange(old.start..<old.valueEnd, with: ByteBuffer(field: key, value).array())
        patchLength()
    }

    /// Adds a field at the end without looking for one with the same key.
    mutating func append(_ value: BSONValue, key: String) {
        bytes.insert(contentsOf: ByteBuffer(field: key, value).array(), at: bytes.count - 1)
        patchLength()
    }

    mutating func patchLength() {
        // Input cannot get here: decoding, encoding and JSON reject documents of 2 GiB with an error.
        precondition(bytes.count <= Int(Int32.max), "A document must not exceed 2 GiB")
        let length = UInt32(bytes.count)
        for i in 0..<4 { bytes[i] = UInt8(truncatingIfNeeded: length >> (8 * i)) }
    }
}

extension ByteBuffer {
    fileprivate init(field key: String, _ value: BSONValue) {
        self.init(capacity: 64)
        append(field: key, value)
    }

    /// Appends a whole element.
    mutating func append(field key: String, _ value: BSONValue) {
        append(value.type.rawValue)
        append(cString: key)
        append(value)
    }
}

// MARK: - Collection

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

// MARK: - Equality

extension BSONDocument {
    /// Whether two documents have the same fields in any order, at every level.
    ///
    /// The order of array elements is significant. Below ``maximumDepth`` levels the comparison is byte for byte.
    public func equalsIgnoringKeyOrder(_ other: BSONDocument) -> Bool {
        equals(other, depth: 0)
    }

    fileprivate func equals(_ other: BSONDocument, depth: Int) -> Bool {
        if bytes == other.bytes { return true }
        // The order of fields does not affect the size.
        guard bytes.count == other.bytes.count, depth < Self.maximumDepth else { return false }
        let mine = sorted { $0.key < $1.key }
        let theirs = other.sorted { $0.key < $1.key }
        return mine.count == theirs.count
            && zip(mine, theirs).allSatisfy { a, b in
                a.key.utf8.elementsEqual(b.key.utf8) && Self.equals(a.value, b.value, depth: depth + 1)
            }
    }

    fileprivate static func equals(_ a: BSONValue, _ b: BSONValue, depth: Int) -> Bool {
        switch (a, b) {
        case (.document(let x), .document(let y)):
            x.equals(y, depth: depth)
        case (.array(let x), .array(let y)):
            x.count == y.count && zip(x, y).allSatisfy { equals($0, $1, depth: depth + 1) }
        case (.codeWithScope(let x), .codeWithScope(let y)):
            x.code == y.code && (x.scope ?? [:]).equals(y.scope ?? [:], depth: depth)
        default:
            a == b
        }
    }
}

extension BSONValue {
    /// Whether two values are equal except for the order of fields, as in
    /// ``BSONDocument/equalsIgnoringKeyOrder(_:)``.
    public func equalsIgnoringKeyOrder(_ other: BSONValue) -> Bool {
        BSONDocument.equals(self, other, depth: 0)
    }
}

// MARK: - OrderedFields

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
