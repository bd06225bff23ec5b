/// The container of a document's fields.
struct BSONKeyedDecodingContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let state: DecoderState
    let handle: DecoderState.Handle

    var codingPath: [any CodingKey] { state.path(handle) }

    var allKeys: [Key] {
        guard let value = try? state.value(handle) else { return [] }
        var keys: [Key] = []
        var offset = value.start + 4
        while let element = state.bytes.element(at: offset, end: value.end - 1) {
            let name = element.key(in: state.bytes)
            if let key = Key(stringValue: name) {
                keys.append(key)
            } else if name == "_id", state.options.idMapping == .automatic,
                let key = Key(stringValue: "id")
            {
                keys.append(key)
            }
            offset = element.valueEnd
        }
        return keys
    }

    func contains(_ key: Key) -> Bool { (try? state.find(handle, key)) != nil }

    @inline(__always)
    private func value(_ key: Key) throws -> DecoderState.Value {
        guard let value = try state.find(handle, key) else { throw missing(key) }
        return value
    }

    @inline(never)
    private func missing(_ key: Key) -> DecodingError {
        .keyNotFound(
            key, .init(codingPath: codingPath, debugDescription: "Field \"\(key.stringValue)\" does not exist"))
    }

    /// The value of a field that may be missing or null.
    @inline(__always)
    private func valueIfPresent(_ key: Key) throws -> DecoderState.Value? {
        guard let value = try state.find(handle, key), !value.isOf(.null) else { return nil }
        return value
    }

    @inline(__always)
    private func read<T>(
        _ key: Key, _ read: (DecoderState.Value) throws(ReadFailure) -> T
    ) throws -> T {
        let value = try value(key)
        do {
            return try read(value)
        } catch {
            throw state.failure(error, value, codingPath + [key])
        }
    }

    @inline(__always)
    private func readIfPresent<T>(
        _ key: Key, _ read: (DecoderState.Value) throws(ReadFailure) -> T
    ) throws -> T? {
        guard let value = try valueIfPresent(key) else { return nil }
        do {
            return try read(value)
        } catch {
            throw state.failure(error, value, codingPath + [key])
        }
    }

    @inline(__always)
    private func integer<I: FixedWidthInteger>(_ key: Key, _ type: I.Type) throws -> I {
        try read(key) { value throws(ReadFailure) in try state.integer(value, as: type) }
    }

    @inline(__always)
    private func integerIfPresent<I: FixedWidthInteger>(_ key: Key, _ type: I.Type) throws -> I? {
        try readIfPresent(key) { value throws(ReadFailure) in try state.integer(value, as: type) }
    }

    func decodeNil(forKey key: Key) throws -> Bool { try value(key).isOf(.null) }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try read(key, state.bool) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try read(key, state.string) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try read(key, state.double) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try read(key, state.float) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try integer(key, type) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try integer(key, type) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try integer(key, type) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try integer(key, type) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try integer(key, type) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try integer(key, type) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try integer(key, type) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try integer(key, type) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try integer(key, type) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try integer(key, type) }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try integer(key, type) }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try integer(key, type) }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try state.decode(type, value(key), handle, key: key)
    }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try readIfPresent(key, state.bool) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        try readIfPresent(key, state.string)
    }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        try readIfPresent(key, state.double)
    }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try readIfPresent(key, state.float) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try integerIfPresent(key, type) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try integerIfPresent(key, type) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try integerIfPresent(key, type) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try integerIfPresent(key, type) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try integerIfPresent(key, type) }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try integerIfPresent(key, type) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try integerIfPresent(key, type) }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try integerIfPresent(key, type) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try integerIfPresent(key, type) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try integerIfPresent(key, type) }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? { try integerIfPresent(key, type) }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? { try integerIfPresent(key, type) }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        guard let value = try valueIfPresent(key) else { return nil }
        return try state.decode(type, value, handle, key: key)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try nested(value(key), key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try nested(value(key), key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        let key = BSONCodingKey.superclass
        return try nested(state.find(handle, key) ?? DecoderState.missing, key)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        try nested(state.find(handle, key) ?? DecoderState.missing, key)
    }

    private func nested(_ value: DecoderState.Value, _ key: some CodingKey) -> BSONValueDecoder {
        BSONValueDecoder(state: state, handle: state.push(value, parent: handle.index, key: key))
    }
}

extension DecoderState {
    /// The value for a superclass that was not encoded: null.
    static let missing = Value(code: BSONType.null.rawValue, start: 0, end: 0)
}

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

/// The container of a single value.
struct BSONSingleValueDecodingContainer: SingleValueDecodingContainer {
    let state: DecoderState
    let handle: DecoderState.Handle

    var codingPath: [any CodingKey] { state.path(handle) }

    @inline(__always)
    private func read<T>(_ read: (DecoderState.Value) throws(ReadFailure) -> T) throws -> T {
        let value = try state.value(handle)
        do {
            return try read(value)
        } catch {
            throw state.failure(error, value, codingPath)
        }
    }

    @inline(__always)
    private func integer<I: FixedWidthInteger>(_ type: I.Type) throws -> I {
        try read { value throws(ReadFailure) in try state.integer(value, as: type) }
    }

    func decodeNil() -> Bool {
        guard let value = try? state.value(handle) else { return false }
        return value.isOf(.null)
    }

    func decode(_ type: Bool.Type) throws -> Bool { try read(state.bool) }
    func decode(_ type: String.Type) throws -> String { try read(state.string) }
    func decode(_ type: Double.Type) throws -> Double { try read(state.double) }
    func decode(_ type: Float.Type) throws -> Float { try read(state.float) }
    func decode(_ type: Int.Type) throws -> Int { try integer(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    func decode(_ type: Int128.Type) throws -> Int128 { try integer(type) }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    func decode(_ type: UInt128.Type) throws -> UInt128 { try integer(type) }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        try state.decode(type, state.value(handle), handle)
    }
}
