/// A type that reads its own fields, which is faster than the code that the compiler generates for `Decodable`.
///
/// For example:
/// ```swift
/// extension City: BSONReadable {
///     init(reading fields: inout BSONFieldReader) throws {
///         id = try fields.read("_id")
///         name = try fields.read("name")
///         position = try fields.read("position")
///     }
/// }
/// ```
///
/// Fields can be read in any order. The stored order is the fastest. ``BSONDecoder`` uses it for values of this type at
/// any position, unless ``BSONDecoder/usesDirectCoding`` is false.
public protocol BSONReadable: Decodable, AnyIsolation {
    /// Creates a value from its fields.
    ///
    /// - Throws: `DecodingError` when a field is missing or of another type. Errors that the value throws are rethrown.
    init(reading fields: inout BSONFieldReader) throws
}

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

// MARK: - Scalars

/// Fields of the common scalar types, which inlined code reads directly when they are next in the document.
extension BSONFieldReader {
    /// Reads a number that must be an integer.
    ///
    /// - Throws: `DecodingError` when the field is missing, null, of another type or out of range.
    @inlinable
    public mutating func read(_ key: StaticString, as type: Int.Type = Int.self) throws -> Int {
        if let at = next(.int32, key, length: 4) {
            cursor = at &+ 4
            return Int(Int32(littleEndian: base.loadUnaligned(fromByteOffset: at, as: Int32.self)))
        }
        if let at = next(.int64, key, length: 8) {
            cursor = at &+ 8
            return Int(Int64(littleEndian: base.loadUnaligned(fromByteOffset: at, as: Int64.self)))
        }
        return try readAny(key)
    }

    /// Reads a number that must be an integer. Returns nil when the field is missing or null.
    ///
    /// - Throws: `DecodingError` when the field is missing, null, of another type or out of range.
    @inlinable
    public mutating func readIfPresent(_ key: StaticString, as type: Int.Type = Int.self) throws -> Int? {
        if let at = next(.int32, key, length: 4) {
            cursor = at &+ 4
            return Int(Int32(littleEndian: base.loadUnaligned(fromByteOffset: at, as: Int32.self)))
        }
        if let at = next(.int64, key, length: 8) {
            cursor = at &+ 8
            return Int(Int64(littleEndian: base.loadUnaligned(fromByteOffset: at, as: Int64.self)))
        }
        return try readAnyIfPresent(key)
    }

    /// Reads a number that must be a 32-bit integer.
    ///
    /// - Throws: `DecodingError` when the field is missing, null, of another type or out of range.
    @inlinable
    public mutating func read(_ key: StaticString, as type: Int32.Type = Int32.self) throws -> Int32 {
        if let at = next(.int32, key, length: 4) {
            cursor = at &+ 4
            return Int32(littleEndian: base.loadUnaligned(fromByteOffset: at, as: Int32.self))
        }
        return try readAny(key)
    }

    /// Reads a number that must be a 32-bit integer. Returns nil when the field is missing or null.
    ///
    /// - Throws: `DecodingError` when the field is missing, null, of another type or out of range.
    @inlinable
    public mutating func readIfPresent(_ key: StaticString, as type: Int32.Type = Int32.self) throws -> Int32? {
        if let at = next(.int32, key, length: 4) {
            cursor = at &+ 4
            return Int32(littleEndian: base.loadUnaligned(fromByteOffset: at, as: Int32.self))
        }
        return try readAnyIfPresent(key)
    }

    /// Reads a number that must be a 64-bit integer.
    ///
    /// - Throws: `DecodingError` when the field is missing, null, of another type or out of range.
    @inlinable
    public mutating func read(_ key: StaticString, as type: Int64.Type = Int64.self) throws -> Int64 {
        if let at = next(.int64, key, length: 8) {
            cursor = at &+ 8
            return Int64(littleEndian: base.loadUnaligned(fromByteOffset: at, as: Int64.self))
        }
        if let at = next(.int32, key, length: 4) {
            cursor = at &+ 4
            return Int64(Int32(littleEndian: base.loadUnaligned(fromByteOffset: at, as: Int32.self)))
        }
        return try readAny(key)
    }

    /// Reads a number that must be a 64-bit integer. Returns nil when the field is missing or null.
    ///
    /// - Throws: `DecodingError` when the field is missing, null, of another type or out of range.
    @inlinable
    public mutating func readIfPresent(_ key: StaticString, as type: Int64.Type = Int64.self) throws -> Int64? {
        if let at = next(.int64, key, length: 8) {
            cursor = at &+ 8
            return Int64(littleEndian: base.loadUnaligned(fromByteOffset: at, as: Int64.self))
        }
        if let at = next(.int32, key, length: 4) {
            cursor = at &+ 4
            return Int64(Int32(littleEndian: base.loadUnaligned(fromByteOffset: at, as: Int32.self)))
        }
        return try readAnyIfPresent(key)
    }

    /// Reads a number that a double represents exactly.
    ///
    /// - Throws: `DecodingError` when the field is missing, null, of another type or out of range.
    @inlinable
    public mutating func read(_ key: StaticString, as type: Double.Type = Double.self) throws -> Double {
        if let at = next(.double, key, length: 8) {
            cursor = at &+ 8
            return Double(
                bitPattern: UInt64(littleEndian: base.loadUnaligned(fromByteOffset: at, as: UInt64.self)))
        }
        return try readAny(key)
    }

    /// Reads a number that a double represents exactly. Returns nil when the field is missing or null.
    ///
    /// - Throws: `DecodingError` when the field is missing, null, of another type or out of range.
    @inlinable
    public mutating func readIfPresent(_ key: StaticString, as type: Double.Type = Double.self) throws -> Double? {
        if let at = next(.double, key, length: 8) {
            cursor = at &+ 8
            return Double(
                bitPattern: UInt64(littleEndian: base.loadUnaligned(fromByteOffset: at, as: UInt64.self)))
        }
        return try readAnyIfPresent(key)
    }

    /// Reads a boolean.
    ///
    /// - Throws: `DecodingError` when the field is missing, null or of another type.
    @inlinable
    public mutating func read(_ key: StaticString, as type: Bool.Type = Bool.self) throws -> Bool {
        if let at = next(.bool, key, length: 1) {
            cursor = at &+ 1
            return base.load(fromByteOffset: at, as: UInt8.self) != 0
        }
        return try readAny(key)
    }

    /// Reads a boolean. Returns nil when the field is missing or null.
    ///
    /// - Throws: `DecodingError` when the field is of another type.
    @inlinable
    public mutating func readIfPresent(_ key: StaticString, as type: Bool.Type = Bool.self) throws -> Bool? {
        if let at = next(.bool, key, length: 1) {
            cursor = at &+ 1
            return base.load(fromByteOffset: at, as: UInt8.self) != 0
        }
        return try readAnyIfPresent(key)
    }

    /// Reads an id.
    ///
    /// - Throws: `DecodingError` when the field is missing, null or of another type.
    @inlinable
    public mutating func read(_ key: StaticString, as type: ObjectID.Type = ObjectID.self) throws -> ObjectID {
        if let at = next(.objectID, key, length: 12) {
            cursor = at &+ 12
            return UnsafeRawBufferPointer(start: base, count: end).objectID(at: at)
        }
        return try readAny(key)
    }

    /// Reads an id. Returns nil when the field is missing or null.
    ///
    /// - Throws: `DecodingError` when the field is of another type.
    @inlinable
    public mutating func readIfPresent(_ key: StaticString, as type: ObjectID.Type = ObjectID.self) throws -> ObjectID?
    {
        if let at = next(.objectID, key, length: 12) {
            cursor = at &+ 12
            return UnsafeRawBufferPointer(start: base, count: end).objectID(at: at)
        }
        return try readAnyIfPresent(key)
    }

    /// Reads a string.
    ///
    /// - Throws: `DecodingError` when the field is missing, null or of another type.
    @inlinable
    public mutating func read(_ key: StaticString, as type: String.Type = String.self) throws -> String {
        if let at = next(.string, key, length: 5) {
            let length = Int(Int32(littleEndian: base.loadUnaligned(fromByteOffset: at, as: Int32.self)))
            if length > 0, end &- at &- 4 >= length {
                cursor = at &+ 4 &+ length
                return String(
                    decoding: UnsafeRawBufferPointer(start: base + at + 4, count: length &- 1), as: UTF8.self)
            }
        }
        return try readAny(key)
    }

    /// Reads a string. Returns nil when the field is missing or null.
    ///
    /// - Throws: `DecodingError` when the field is of another type.
    @inlinable
    public mutating func readIfPresent(_ key: StaticString, as type: String.Type = String.self) throws -> String? {
        if let at = next(.string, key, length: 5) {
            let length = Int(Int32(littleEndian: base.loadUnaligned(fromByteOffset: at, as: Int32.self)))
            if length > 0, end &- at &- 4 >= length {
                cursor = at &+ 4 &+ length
                return String(
                    decoding: UnsafeRawBufferPointer(start: base + at + 4, count: length &- 1), as: UTF8.self)
            }
        }
        return try readAnyIfPresent(key)
    }

    /// The general case: the field is not the next one or is stored as another type.
    @usableFromInline @inline(never)
    mutating func readAny<T: Decodable>(_ key: StaticString) throws -> T { try read(key, as: T.self) }

    @usableFromInline @inline(never)
    mutating func readAnyIfPresent<T: Decodable>(_ key: StaticString) throws -> T? {
        try readIfPresent(key, as: T.self)
    }
}
