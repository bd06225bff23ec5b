/// The container of an array's elements.
struct BSONUnkeyedDecodingContainer: UnkeyedDecodingContainer {
    // Three words, so that the value fits into an existential without an allocation.
    let state: DecoderState
    let handle: DecoderState.Handle
    private var offset: Int32
    private var position: Int32 = 0

    init(state: DecoderState, handle: DecoderState.Handle, offset: Int32) {
        self.state = state
        self.handle = handle
        self.offset = offset
    }

    var codingPath: [any CodingKey] { state.path(handle) }
    var currentIndex: Int { Int(position) }
    var isAtEnd: Bool {
        guard state.isValid(handle) else { return true }
        return peek() == nil
    }

    var count: Int? {
        guard let value = try? state.value(handle) else { return nil }
        var count = 0
        var offset = value.start + 4
        while let element = state.bytes.element(at: offset, end: value.end - 1) {
            count += 1
            offset = element.valueEnd
        }
        return count
    }

    /// The next value of an array whose frame is known to exist.
    @inline(__always)
    private func peek() -> DecoderState.Value? {
        let end = state.storage.pointee.frames[Int(handle.index)].value.end &- 1
        let bytes = state.bytes
        let start = Int(offset)
        guard start < end else { return nil }
        // A key of an array is a number of few digits, so a loop over its bytes is the fastest way to find its end.
        var keyEnd = start &+ 1
        while keyEnd < end, bytes[keyEnd] != 0 { keyEnd &+= 1 }
        guard keyEnd < end, let length = bytes.valueLength(code: bytes[start], at: keyEnd &+ 1, end: end)
        else { return nil }
        return DecoderState.Value(code: bytes[start], start: keyEnd &+ 1, end: keyEnd &+ 1 &+ length)
    }

    @inline(__always)
    private func next(_ type: Any.Type) throws -> DecoderState.Value {
        try state.check(handle)
        guard let value = peek() else { throw exhausted(type) }
        return value
    }

    @inline(never)
    private func exhausted(_ type: Any.Type) -> DecodingError {
        .valueNotFound(type, .init(codingPath: path(), debugDescription: "The array has only \(position) elements"))
    }

    private func path() -> [any CodingKey] { codingPath + [BSONCodingKey(intValue: currentIndex)] }

    @inline(__always)
    private mutating func advance(past value: DecoderState.Value) {
        offset = Int32(truncatingIfNeeded: value.end)
        position &+= 1
    }

    @inline(__always)
    private mutating func read<T>(_ read: (DecoderState.Value) throws(ReadFailure) -> T) throws -> T {
        let value = try next(T.self)
        do {
            let decoded = try read(value)
            advance(past: value)
            return decoded
        } catch {
            throw state.failure(error, value, path())
        }
    }

    @inline(__always)
    private mutating func integer<I: FixedWidthInteger>(_ type: I.Type) throws -> I {
        let state = state
        return try read { value throws(ReadFailure) in try state.integer(value, as: type) }
    }

    mutating func decodeNil() throws -> Bool {
        let value = try next(Any?.self)
        if value.isOf(.null) { advance(past: value) }
        return value.isOf(.null)
    }

    mutating func decode(_ type: Bool.Type) throws -> Bool { try read(state.bool) }
    mutating func decode(_ type: String.Type) throws -> String { try read(state.string) }
    mutating func decode(_ type: Double.Type) throws -> Double { try read(state.double) }
    mutating func decode(_ type: Float.Type) throws -> Float { try read(state.float) }
    mutating func decode(_ type: Int.Type) throws -> Int { try integer(type) }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    mutating func decode(_ type: Int128.Type) throws -> Int128 { try integer(type) }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try integer(type) }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        let value = try next(type)
        let decoded = try state.decode(type, value, handle, position: currentIndex)
        advance(past: value)
        return decoded
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        let value = try next(type)
        let container = try nested(value).container(keyedBy: type)
        advance(past: value)
        return container
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let value = try next([Any].self)
        let container = try nested(value).unkeyedContainer()
        advance(past: value)
        return container
    }

    mutating func superDecoder() throws -> any Decoder {
        let value = try next((any Decoder).self)
        let decoder = nested(value)
        advance(past: value)
        return decoder
    }

    private func nested(_ value: DecoderState.Value) -> BSONValueDecoder {
        BSONValueDecoder(state: state, handle: state.push(value, parent: handle.index, key: nil, position: position))
    }
}
