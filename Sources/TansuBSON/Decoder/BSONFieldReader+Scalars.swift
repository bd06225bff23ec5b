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
