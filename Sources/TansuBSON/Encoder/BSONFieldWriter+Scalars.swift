/// Fields of the common scalar types, which inlined code writes directly into the buffer.
extension BSONFieldWriter {
    /// Writes a number, as int32 when it fits and as int64 otherwise.
    @inlinable
    public mutating func write(_ key: StaticString, _ value: Int) {
        if let small = Int32(exactly: value) {
            write(key, small)
        } else {
            write(key, Int64(value))
        }
    }

    /// Writes a number, as int32 when it fits and as int64 otherwise, or nothing when the value is nil.
    @inlinable
    public mutating func write(_ key: StaticString, _ value: Int?) {
        if let value { write(key, value) }
    }

    /// Writes an int32.
    @inlinable
    public mutating func write(_ key: StaticString, _ value: Int32) {
        guard buffer.pointee.appendElement(.int32, key: key, reserving: 4) else { return rejectKey(key) }
        buffer.pointee.append(littleEndian: value)
    }

    /// Writes an int32, or nothing when the value is nil.
    @inlinable
    public mutating func write(_ key: StaticString, _ value: Int32?) {
        if let value { write(key, value) }
    }

    /// Writes an int64.
    @inlinable
    public mutating func write(_ key: StaticString, _ value: Int64) {
        guard buffer.pointee.appendElement(.int64, key: key, reserving: 8) else { return rejectKey(key) }
        buffer.pointee.append(littleEndian: value)
    }

    /// Writes an int64, or nothing when the value is nil.
    @inlinable
    public mutating func write(_ key: StaticString, _ value: Int64?) {
        if let value { write(key, value) }
    }

    /// Writes a double.
    @inlinable
    public mutating func write(_ key: StaticString, _ value: Double) {
        guard buffer.pointee.appendElement(.double, key: key, reserving: 8) else { return rejectKey(key) }
        buffer.pointee.append(littleEndian: value.bitPattern)
    }

    /// Writes a double, or nothing when the value is nil.
    @inlinable
    public mutating func write(_ key: StaticString, _ value: Double?) {
        if let value { write(key, value) }
    }

    /// Writes a boolean.
    @inlinable
    public mutating func write(_ key: StaticString, _ value: Bool) {
        guard buffer.pointee.appendElement(.bool, key: key, reserving: 1) else { return rejectKey(key) }
        buffer.pointee.append(value ? 1 : 0 as UInt8)
    }

    /// Writes a boolean, or nothing when the value is nil.
    @inlinable
    public mutating func write(_ key: StaticString, _ value: Bool?) {
        if let value { write(key, value) }
    }

    /// Writes a string.
    @inlinable
    public mutating func write(_ key: StaticString, _ value: String) {
        guard buffer.pointee.appendElement(.string, key: key, reserving: 0) else { return rejectKey(key) }
        buffer.pointee.append(bsonString: value)
    }

    /// Writes a string, or nothing when the value is nil.
    @inlinable
    public mutating func write(_ key: StaticString, _ value: String?) {
        if let value { write(key, value) }
    }

    /// Writes an id.
    @inlinable
    public mutating func write(_ key: StaticString, _ value: ObjectID) {
        guard buffer.pointee.appendElement(.objectID, key: key, reserving: 12) else { return rejectKey(key) }
        buffer.pointee.append(value)
    }

    /// Writes an id, or nothing when the value is nil.
    @inlinable
    public mutating func write(_ key: StaticString, _ value: ObjectID?) {
        if let value { write(key, value) }
    }
}
