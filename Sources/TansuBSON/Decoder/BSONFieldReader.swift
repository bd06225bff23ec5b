/// A reader of the fields of a document, for types that are ``BSONReadable``.
///
/// Fields can be read in any order and repeatedly. The next field in the stored order is found without a search. The
/// reader is valid during the call that receives it and cannot be copied.
public struct BSONFieldReader: ~Copyable {
    // Inlinable code reads through the pointer only bytes before `end`.
    @usableFromInline let base: UnsafeRawPointer
    /// The offset of the element after the one that was found last.
    @usableFromInline var cursor: Int
    /// The offset of the zero byte that ends the document.
    @usableFromInline let end: Int
    private let first: Int
    private let state: DecoderState
    private let handle: DecoderState.Handle

    init(_ state: DecoderState, _ handle: DecoderState.Handle, _ document: DecoderState.Value) {
        self.state = state
        self.handle = handle
        // The caller guarantees that the document has a length and a last byte.
        base = state.bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 1).unsafelyUnwrapped
        first = document.start + 4
        cursor = first
        end = document.end - 1
    }

    /// The `userInfo` of the decoder.
    public var userInfo: [CodingUserInfoKey: Any] { state.options.userInfo }

    /// The coding path of this document.
    public var codingPath: [any CodingKey] { state.path(handle) }

    /// The keys of all fields in their order.
    public var keys: [String] {
        var keys: [String] = []
        var offset = first
        while let element = state.bytes.element(at: offset, end: end) {
            keys.append(element.key(in: state.bytes))
            offset = element.valueEnd
        }
        return keys
    }

    /// Whether there is a field with a key, which may be null.
    public func contains(_ key: StaticString) -> Bool { search(key) != nil }

    /// Reads a field of any `Decodable` type.
    ///
    /// - Throws: The errors of ``BSONDecoder/decode(_:from:)-(_,BSONDocument)``.
    public mutating func read<T: Decodable>(_ key: StaticString, as type: T.Type = T.self) throws -> T {
        try state.decode(type, required(key), handle, key: Self.codingKey(key))
    }

    /// Reads a field of any `Decodable` type. Returns nil when the field is missing or null.
    ///
    /// - Throws: The errors of ``BSONDecoder/decode(_:from:)-(_,BSONDocument)``.
    public mutating func readIfPresent<T: Decodable>(_ key: StaticString, as type: T.Type = T.self) throws -> T? {
        guard let value = find(key), !value.isOf(.null) else { return nil }
        return try state.decode(type, value, handle, key: Self.codingKey(key))
    }

    /// Reads a nested document with a closure that gets its fields.
    ///
    /// - Throws: The errors of the closure, and `DecodingError` when the field is missing or not a document.
    public mutating func readDocument<Result>(
        _ key: StaticString, _ body: (inout BSONFieldReader) throws -> Result
    ) throws -> Result {
        let value = try required(key)
        let inner = state.push(value, parent: handle.index, key: Self.codingKey(key))
        defer { state.pop(downTo: inner) }
        var fields = BSONFieldReader(state, inner, try state.open(inner, as: .document))
        return try body(&fields)
    }

    private static func codingKey(_ key: StaticString) -> BSONCodingKey { BSONCodingKey(stringValue: key.description) }

    private mutating func required(_ key: StaticString) throws -> DecoderState.Value {
        guard let value = find(key) else {
            throw DecodingError.keyNotFound(
                Self.codingKey(key), .init(codingPath: codingPath, debugDescription: "Field \"\(key)\" does not exist"))
        }
        return value
    }

    private mutating func find(_ key: StaticString) -> DecoderState.Value? {
        let found = search(key)
        if let found { cursor = found.end }
        return found
    }

    private func search(_ key: StaticString) -> DecoderState.Value? {
        key.withUTF8Buffer { state.bytes.field($0, cursor: cursor, first: first, end: end) }
    }
}

extension BSONFieldReader {
    /// The offset of the value of the next element, or nil unless it has this type, this key and a value of `length`
    /// bytes at least.
    @inlinable @inline(__always)
    func next(_ type: BSONType, _ key: StaticString, length: Int) -> Int? {
        key.withUTF8Buffer { utf8 in
            let value = cursor &+ utf8.count &+ 2
            guard end &- value >= length, base.load(fromByteOffset: cursor, as: UInt8.self) == type.rawValue,
                base.load(fromByteOffset: value &- 1, as: UInt8.self) == 0
            else { return nil }
            // Keys are short, so a loop is faster than a call. No document has a key with a NUL.
            for i in 0..<utf8.count {
                let byte = base.load(fromByteOffset: cursor &+ 1 &+ i, as: UInt8.self)
                if byte != utf8[i] || byte == 0 { return nil }
            }
            return value
        }
    }
}
