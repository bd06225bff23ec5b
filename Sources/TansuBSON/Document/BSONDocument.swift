/// An ordered document: a value over one contiguous run of bytes in BSON's wire form.
///
/// Copies share the bytes until one of them is changed. Fields are read from the bytes when asked for.
///
/// For example:
/// ```swift
/// var person: BSONDocument = ["name": "mike", "pet": ["species": "cat"], "age": 12]
/// person["age"] = 13
/// person[path: "pet.species"]?.stringValue  // "cat"
/// person.name?.stringValue                  // "mike"
/// ```
///
/// A key cannot hold a NUL character in BSON: one that is there becomes U+FFFD, the replacement character, when a
/// document is built by literal or subscript; encoding and JSON refuse such a key with an error.
@dynamicMemberLookup
public struct BSONDocument: Sendable {
    /// How deep documents may be nested in bytes or JSON that come from outside.
    public static let maximumDepth = 200

    static let emptyBytes: [UInt8] = [5, 0, 0, 0, 0]

    /// The document in BSON's wire form.
    public internal(set) var bytes: [UInt8]

    /// Creates an empty document.
    public init() { bytes = Self.emptyBytes }

    /// Creates a document from bytes in BSON's wire form, after checking all of them.
    ///
    /// - Throws: ``BSONError`` that tells the mistake, its offset and the path of the field.
    public init(bytes: some Sequence<UInt8>) throws {
        let bytes = Array(bytes)
        try bytes.withUnsafeBytes { try BSONValidator.validate($0) }
        self.bytes = bytes
    }

    /// Creates a document from bytes that are known to be valid, such as what the engine returns.
    package init(trustedBytes bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Creates a document of the given fields in the given order; of equal keys the last counts.
    public init(_ fields: some Sequence<(String, BSONValue)>) {
        var buffer = ByteBuffer(capacity: 128)
        let start = buffer.openDocument()
        var seen: Set<String> = []
        var repeated: [(String, BSONValue)] = []
        for (key, value) in fields {
            let key = key.replacingNUL()
            if seen.insert(key).inserted {
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

extension BSONDocument: Hashable {
    /// Whether two documents have the same fields in the same order, byte for byte.
    public static func == (a: BSONDocument, b: BSONDocument) -> Bool { a.bytes == b.bytes }

    /// Feeds the bytes to the hasher.
    public func hash(into hasher: inout Hasher) {
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
    }
}

extension BSONDocument: ExpressibleByDictionaryLiteral {
    /// Creates a document of the literal's fields in their order; of equal keys the last counts.
    public init(dictionaryLiteral elements: (String, BSONValue)...) { self.init(elements) }
}

extension BSONDocument: CustomStringConvertible {
    /// The document as relaxed extended JSON.
    public var description: String { extendedJSON(.relaxed) }
}
