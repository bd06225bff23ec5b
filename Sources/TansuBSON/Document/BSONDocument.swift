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
