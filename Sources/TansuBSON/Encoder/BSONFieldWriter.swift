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
