/// The fields of a document that a ``BSONReadable`` value is reading.
///
/// Fields may be read in any order, each as often as wanted; the next field in the stored order is found at once. It
/// exists during the call that it is given to, and cannot be copied out of it.
public struct BSONFieldReader: ~Copyable {
    // Inlinable code reads through the pointer only what lies before `end`.
    @usableFromInline let base: UnsafeRawPointer
    /// Where the element after the one that was found last begins.
    @usableFromInline var cursor: Int
    /// Where the zero byte is that ends the document.
    @usableFromInline let end: Int
    private let first: Int
    private let state: DecoderState
    private let place: DecoderState.Place

    init(_ state: DecoderState, _ place: DecoderState.Place, _ document: DecoderState.Value) {
        self.state = state
        self.place = place
        // A document has a length and a last byte, which whoever found it has made sure of.
        base = state.bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 1).unsafelyUnwrapped
        first = document.start + 4
        cursor = first
        end = document.end - 1
    }

    /// What the decoder was given as `userInfo`.
    public var userInfo: [CodingUserInfoKey: Any] { state.options.userInfo }

    /// The keys on the way from the whole value to this document.
    public var codingPath: [any CodingKey] { state.path(place) }

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

    /// Reads a field of any type, as the decoder reads it anywhere else.
    ///
    /// - Throws: As ``BSONDecoder/decode(_:from:)-(_,BSONDocument)``.
    public mutating func read<T: Decodable>(_ key: StaticString, as type: T.Type = T.self) throws -> T {
        try state.decode(type, required(key), place, key: Self.codingKey(key))
    }

    /// Reads a field of any type; nil when it is missing or null.
    ///
    /// - Throws: As ``BSONDecoder/decode(_:from:)-(_,BSONDocument)``.
    public mutating func readIfPresent<T: Decodable>(_ key: StaticString, as type: T.Type = T.self) throws -> T? {
        guard let value = find(key), !value.isOf(.null) else { return nil }
        return try state.decode(type, value, place, key: Self.codingKey(key))
    }

    /// Reads a field that is a document by a closure that gets its fields.
    ///
    /// - Throws: What the closure throws, and `DecodingError` when there is no such document.
    public mutating func readDocument<Result>(
        _ key: StaticString, _ body: (inout BSONFieldReader) throws -> Result
    ) throws -> Result {
        let value = try required(key)
        let inner = state.push(value, parent: place.index, key: Self.codingKey(key))
        defer { state.pop(downTo: inner) }
        var fields = BSONFieldReader(state, inner, try state.open(inner, as: .document))
        return try body(&fields)
    }

    private static func codingKey(_ key: StaticString) -> BSONCodingKey { BSONCodingKey(stringValue: key.description) }

    private mutating func required(_ key: StaticString) throws -> DecoderState.Value {
        guard let value = find(key) else {
            throw DecodingError.keyNotFound(
                Self.codingKey(key), .init(codingPath: codingPath, debugDescription: "there is no field \"\(key)\""))
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
    /// The offset of the value of the next element, when that has a type and a key and a value of some bytes.
    @inlinable @inline(__always)
    func next(_ type: BSONType, _ key: StaticString, length: Int) -> Int? {
        key.withUTF8Buffer { utf8 in
            let value = cursor &+ utf8.count &+ 2
            guard end &- value >= length, base.load(fromByteOffset: cursor, as: UInt8.self) == type.rawValue,
                base.load(fromByteOffset: value &- 1, as: UInt8.self) == 0
            else { return nil }
            // Keys are short, so a loop takes less than a call. One with a NUL stands nowhere.
            for i in 0..<utf8.count {
                let byte = base.load(fromByteOffset: cursor &+ 1 &+ i, as: UInt8.self)
                if byte != utf8[i] || byte == 0 { return nil }
            }
            return value
        }
    }
}
