/// A type that writes its own fields, which is faster than the code that the compiler generates for `Encodable`.
///
/// For example:
/// ```swift
/// extension City: BSONWritable {
///     func write(to fields: inout BSONFieldWriter) throws {
///         fields.write("_id", id)
///         fields.write("name", name)
///         try fields.write("position", position)
///     }
/// }
/// ```
///
/// ``BSONEncoder`` uses it for values of this type at any position: at the top level, in properties and in arrays.
/// Other encoders use `encode(to:)`, and so does ``BSONEncoder`` when ``BSONEncoder/usesDirectCoding`` is false.
///
/// Both must give the same document. Otherwise queries by key path do not find the fields. Write the stored names, so
/// `_id` for a property `id`, and omit fields that are nil.
public protocol BSONWritable: Encodable, AnyIsolation {
    /// Writes the fields in the order in which they are stored.
    ///
    /// - Throws: The errors of the field writer.
    func write(to fields: inout BSONFieldWriter) throws
}

/// A writer of the fields of a document, for types that are ``BSONWritable``.
///
/// It is valid during the call that receives it and cannot be copied.
public struct BSONFieldWriter: ~Copyable {
    // The buffer belongs to a state, and states are never freed. Fields of other types go through the state itself.
    @usableFromInline let buffer: UnsafeMutablePointer<ByteBuffer>
    private let state: EncoderState
    private let index: Int32

    init(_ state: EncoderState, _ index: Int32) {
        self.state = state
        self.index = index
        buffer = withUnsafeMutablePointer(to: &state.storage.pointee.buffer) { $0 }
    }

    /// The `userInfo` of the encoder.
    public var userInfo: [CodingUserInfoKey: Any] { state.options.userInfo }

    /// The coding path of this document.
    public var codingPath: [any CodingKey] { state.path(state.handle(index)) }

    /// Writes a field of any `Encodable` type.
    ///
    /// - Throws: The errors of ``BSONEncoder/encode(_:)``.
    public mutating func write<T: Encodable>(_ key: StaticString, _ value: T) throws {
        let typeOffset = buffer.pointee.count
        guard buffer.pointee.appendElement(.null, key: key, reserving: 0) else {
            rejectKey(key)
            return
        }
        let element = EncoderState.OpenElement(typeOffset: typeOffset, needsMove: false)
        try state.encode(value, state.handle(index), element, key: BSONCodingKey(stringValue: key.description))
    }

    /// Writes a field of any `Encodable` type, or nothing when the value is nil.
    ///
    /// - Throws: The errors of ``BSONEncoder/encode(_:)``.
    public mutating func write<T: Encodable>(_ key: StaticString, _ value: T?) throws {
        if let value { try write(key, value) }
    }

    /// Writes a null.
    public mutating func writeNull(_ key: StaticString) {
        if !buffer.pointee.appendElement(.null, key: key, reserving: 0) { rejectKey(key) }
    }

    /// Writes a nested document whose fields a closure writes.
    ///
    /// - Throws: The errors of the closure, and `EncodingError` when documents are nested too deep.
    public mutating func writeDocument(
        _ key: StaticString, _ body: (inout BSONFieldWriter) throws -> Void
    ) throws {
        let typeOffset = buffer.pointee.count
        guard buffer.pointee.appendElement(.document, key: key, reserving: 4) else {
            rejectKey(key)
            return
        }
        let handle = state.push(typeOffset: typeOffset, parent: index, key: BSONCodingKey(stringValue: key.description))
        do {
            try state.writeFields(handle, body)
            state.pop(downTo: handle, top: index)
        } catch {
            // The caller may continue after an error, so the incomplete document is discarded.
            buffer.pointee.truncate(to: typeOffset)
            state.pop(downTo: handle, top: index)
            throw error
        }
    }

    /// Records that a key cannot be stored. The encoding fails after the value wrote its fields.
    @usableFromInline
    func rejectKey(_ key: StaticString) {
        state.failure =
            state.failure
            ?? EncodingError.invalidValue(
                key.description,
                .init(
                    codingPath: codingPath + [BSONCodingKey(stringValue: key.description)],
                    debugDescription: "A key contains a NUL character"))
    }
}

// MARK: - Scalars

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
