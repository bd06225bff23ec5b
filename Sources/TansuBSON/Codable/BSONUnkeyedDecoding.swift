/// The container of an array's elements.
struct BSONUnkeyedDecoding: UnkeyedDecodingContainer {
    // Three words, so that the value fits into an existential without an allocation.
    let state: DecoderState
    let place: DecoderState.Place
    private var offset: Int32
    private var position: Int32 = 0

    init(state: DecoderState, place: DecoderState.Place, offset: Int32) {
        self.state = state
        self.place = place
        self.offset = offset
    }

    var codingPath: [any CodingKey] { state.path(place) }
    var currentIndex: Int { Int(position) }
    var isAtEnd: Bool { peek() == nil }

    var count: Int? {
        guard let value = try? state.value(place) else { return nil }
        var count = 0
        var offset = value.start + 4
        while let element = state.bytes.element(at: offset, end: value.end - 1) {
            count += 1
            offset = element.valueEnd
        }
        return count
    }

    @inline(__always)
    private func peek() -> DecoderState.Value? {
        guard let value = try? state.value(place),
            let element = state.bytes.element(at: Int(offset), end: value.end - 1)
        else { return nil }
        return DecoderState.Value(type: element.type, start: element.valueStart, end: element.valueEnd)
    }

    private func next(_ type: Any.Type) throws -> DecoderState.Value {
        guard let value = peek() else {
            throw DecodingError.valueNotFound(
                type, .init(codingPath: path(), debugDescription: "the array has only \(position) elements"))
        }
        return value
    }

    private func path() -> [any CodingKey] { codingPath + [BSONCodingKey(intValue: currentIndex)] }

    private mutating func advance(past value: DecoderState.Value) {
        offset = Int32(truncatingIfNeeded: value.end)
        position += 1
    }

    mutating func decodeNil() throws -> Bool {
        let value = try next(Any?.self)
        if value.type == .null { advance(past: value) }
        return value.type == .null
    }

    mutating func decode(_ type: Bool.Type) throws -> Bool {
        let value = try next(type)
        let decoded = try state.bool(value, path)
        advance(past: value)
        return decoded
    }

    mutating func decode(_ type: String.Type) throws -> String {
        let value = try next(type)
        let decoded = try state.string(value, path)
        advance(past: value)
        return decoded
    }

    mutating func decode(_ type: Double.Type) throws -> Double {
        let value = try next(type)
        let decoded = try state.double(value, path)
        advance(past: value)
        return decoded
    }

    mutating func decode(_ type: Float.Type) throws -> Float {
        let value = try next(type)
        let decoded = try state.float(value, path)
        advance(past: value)
        return decoded
    }

    mutating func decode(_ type: Int.Type) throws -> Int {
        let value = try next(type)
        let decoded = try state.integer(value, as: Int.self, path)
        advance(past: value)
        return decoded
    }

    mutating func decode(_ type: Int8.Type) throws -> Int8 {
        let value = try next(type)
        let decoded = try state.integer(value, as: Int8.self, path)
        advance(past: value)
        return decoded
    }

    mutating func decode(_ type: Int16.Type) throws -> Int16 {
        let value = try next(type)
        let decoded = try state.integer(value, as: Int16.self, path)
        advance(past: value)
        return decoded
    }

    mutating func decode(_ type: Int32.Type) throws -> Int32 {
        let value = try next(type)
        let decoded = try state.integer(value, as: Int32.self, path)
        advance(past: value)
        return decoded
    }

    mutating func decode(_ type: Int64.Type) throws -> Int64 {
        let value = try next(type)
        let decoded = try state.integer(value, as: Int64.self, path)
        advance(past: value)
        return decoded
    }

    mutating func decode(_ type: UInt.Type) throws -> UInt {
        let value = try next(type)
        let decoded = try state.integer(value, as: UInt.self, path)
        advance(past: value)
        return decoded
    }

    mutating func decode(_ type: UInt8.Type) throws -> UInt8 {
        let value = try next(type)
        let decoded = try state.integer(value, as: UInt8.self, path)
        advance(past: value)
        return decoded
    }

    mutating func decode(_ type: UInt16.Type) throws -> UInt16 {
        let value = try next(type)
        let decoded = try state.integer(value, as: UInt16.self, path)
        advance(past: value)
        return decoded
    }

    mutating func decode(_ type: UInt32.Type) throws -> UInt32 {
        let value = try next(type)
        let decoded = try state.integer(value, as: UInt32.self, path)
        advance(past: value)
        return decoded
    }

    mutating func decode(_ type: UInt64.Type) throws -> UInt64 {
        let value = try next(type)
        let decoded = try state.integer(value, as: UInt64.self, path)
        advance(past: value)
        return decoded
    }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        let value = try next(type)
        let key = BSONCodingKey(intValue: currentIndex)
        let decoded = try state.decode(type, value, parent: place.index, key: key)
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

    private func nested(_ value: DecoderState.Value) -> BSONDecoding {
        BSONDecoding(
            state: state,
            place: state.push(value, parent: place.index, key: BSONCodingKey(intValue: currentIndex)))
    }
}
