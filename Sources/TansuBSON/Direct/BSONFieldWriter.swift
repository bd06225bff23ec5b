/// The fields of a document that a ``BSONWritable`` value is writing.
///
/// It exists during the call that it is given to, and cannot be copied out of it.
public struct BSONFieldWriter: ~Copyable {
    // The pointer leads into a state that is never freed; the state itself is told when a field is more than bytes.
    @usableFromInline let buffer: UnsafeMutablePointer<ByteBuffer>
    private let state: EncoderState
    private let index: Int32

    init(_ state: EncoderState, _ index: Int32) {
        self.state = state
        self.index = index
        buffer = withUnsafeMutablePointer(to: &state.storage.pointee.buffer) { $0 }
    }

    /// What the encoder was given as `userInfo`.
    public var userInfo: [CodingUserInfoKey: Any] { state.options.userInfo }

    /// The keys on the way from the whole value to this document.
    public var codingPath: [any CodingKey] { state.path(state.place(index)) }

    /// Writes a field of any type, as the encoder stores it anywhere else.
    ///
    /// - Throws: As ``BSONEncoder/encode(_:)``.
    public mutating func write<T: Encodable>(_ key: StaticString, _ value: T) throws {
        let typeAt = buffer.pointee.count
        guard buffer.pointee.appendElement(.null, key: key, room: 0) else {
            refuse(key)
            return
        }
        let begun = EncoderState.Begun(typeAt: typeAt, isDetour: false)
        try state.encode(value, state.place(index), begun, key: BSONCodingKey(stringValue: key.description))
    }

    /// Writes a field of any type, or nothing when there is no value.
    ///
    /// - Throws: As ``BSONEncoder/encode(_:)``.
    public mutating func write<T: Encodable>(_ key: StaticString, _ value: T?) throws {
        if let value { try write(key, value) }
    }

    /// Writes a null.
    public mutating func writeNull(_ key: StaticString) {
        if !buffer.pointee.appendElement(.null, key: key, room: 0) { refuse(key) }
    }

    /// Writes a field that is a document, whose fields a closure writes.
    ///
    /// - Throws: What the closure throws, and `EncodingError` when documents are nested too deep.
    public mutating func writeDocument(
        _ key: StaticString, _ body: (inout BSONFieldWriter) throws -> Void
    ) throws {
        let typeAt = buffer.pointee.count
        guard buffer.pointee.appendElement(.document, key: key, room: 4) else {
            refuse(key)
            return
        }
        let place = state.push(typeAt: typeAt, parent: index, key: BSONCodingKey(stringValue: key.description))
        do {
            try state.writeFields(place, body)
            state.pop(downTo: place, top: index)
        } catch {
            // The caller may go on after an error, so what was half written goes away.
            buffer.pointee.truncate(to: typeAt)
            state.pop(downTo: place, top: index)
            throw error
        }
    }

    /// Remembers that a key cannot be stored; the value's encoding fails when it has written its fields.
    @usableFromInline
    func refuse(_ key: StaticString) {
        state.failure =
            state.failure
            ?? EncodingError.invalidValue(
                key.description,
                .init(
                    codingPath: codingPath + [BSONCodingKey(stringValue: key.description)],
                    debugDescription: "a key contains a NUL character"))
    }
}
