/// A decoder of `Decodable` values from documents.
///
/// For example:
/// ```swift
/// struct Pet: Codable { var species: String }
/// let pet = try BSONDecoder().decode(Pet.self, from: ["species": "cat"])
/// ```
///
/// <doc:CodableValues> lists the BSON types of Swift types and the strategies.
///
/// Numbers are converted between number types when the conversion is exact. Otherwise the decoder throws an error. Only
/// the conversion to `Float` rounds, and the one to `Double` when ``doubleStrategy`` is ``BSONDoubleStrategy/rounded``.
/// Between doubles and decimals a conversion is exact when the double's shortest text is the decimal: 7.1 is 7.1.
///
/// A decoder is a value type. Threads can use the same decoder concurrently.
public struct BSONDecoder: Sendable {
    var options = BSONCodingOptions()

    /// Creates a decoder with the default strategies.
    public init() {}

    /// The strategies of all types at once.
    public var strategies: BSONCodingStrategies {
        get { options.strategies }
        set { options.strategies = newValue }
    }

    /// How `Date` values are stored: ``BSONDateStrategy/bsonDate`` unless set.
    public var dateStrategy: BSONDateStrategy {
        get { options.date }
        set { options.date = newValue }
    }

    /// How `Data` values are stored: ``BSONDataStrategy/binary`` unless set.
    public var dataStrategy: BSONDataStrategy {
        get { options.data }
        set { options.data = newValue }
    }

    /// How `UUID` values are stored: ``BSONUUIDStrategy/binary`` unless set.
    public var uuidStrategy: BSONUUIDStrategy {
        get { options.uuid }
        set { options.uuid = newValue }
    }

    /// How `URL` values are stored: ``BSONURLStrategy/string`` unless set.
    public var urlStrategy: BSONURLStrategy {
        get { options.url }
        set { options.url = newValue }
    }

    /// How `Decimal` values are stored: ``BSONDecimalStrategy/decimal128`` unless set.
    public var decimalStrategy: BSONDecimalStrategy {
        get { options.decimal }
        set { options.decimal = newValue }
    }

    /// How numbers are read as `Double` that it does not represent exactly: ``BSONDoubleStrategy/exact`` unless set.
    public var doubleStrategy: BSONDoubleStrategy {
        get { options.double }
        set { options.double = newValue }
    }

    /// Whether a property `id` is read from `_id`: ``BSONIDMapping/automatic`` unless set.
    public var idMapping: BSONIDMapping {
        get { options.idMapping }
        set { options.idMapping = newValue }
    }

    /// Whether the decoder uses ``BSONReadable``: true unless set.
    ///
    /// When it is false, the decoder uses `init(from:)` of these types. Both must give the same values. A test can use
    /// this property to compare them.
    public var usesDirectCoding: Bool {
        get { options.usesDirectCoding }
        set { options.usesDirectCoding = newValue }
    }

    /// The `userInfo` of the decoder that values get.
    public var userInfo: [CodingUserInfoKey: any Sendable] {
        get { options.userInfo }
        set { options.userInfo = newValue }
    }

    /// Decodes a value from a document.
    ///
    /// - Throws: `DecodingError` with the path of the field that is missing, null, of another type or out of range.
    ///   Errors that the value throws are rethrown.
    @inlinable
    public func decode<T: Decodable>(_ type: T.Type, from document: BSONDocument) throws -> T {
        try document.withUnsafeBytes { try decode(type, fromTrusted: $0) }
    }

    /// Decodes a value from bytes in BSON's wire format, after validating all of them.
    ///
    /// - Throws: ``BSONError`` when the bytes are not a valid document, and the errors of decoding a document.
    public func decode<T: Decodable>(_ type: T.Type, from bytes: some Collection<UInt8>) throws -> T {
        let decoded = try bytes.withContiguousStorageIfAvailable { storage in
            let raw = UnsafeRawBufferPointer(storage)
            try BSONValidator.validate(raw)
            return try decode(type, fromTrusted: raw)
        }
        return try decoded ?? decode(type, from: BSONDocument(bytes: bytes))
    }

    /// Decodes a value from a BSON value of any type.
    ///
    /// - Throws: The errors of decoding a document.
    public func decodeValue<T: Decodable>(_ type: T.Type, from value: BSONValue) throws -> T {
        var buffer = ByteBuffer(capacity: 64)
        buffer.append(value)
        var decoder = self
        // The value is not a stored document, so its `id` is an ordinary field.
        decoder.options.idMapping = .none
        return try decoder.decode(type, value.type, buffer.bytes)
    }

    /// Decodes a value directly from the bytes of a document that is known to be valid, such as one of the engine.
    @usableFromInline
    package func decode<T: Decodable>(_ type: T.Type, fromTrusted bytes: UnsafeRawBufferPointer) throws -> T {
        try decode(type, .document, bytes)
    }

    private func decode<T: Decodable>(
        _ type: T.Type, _ valueType: BSONType, _ bytes: UnsafeRawBufferPointer
    ) throws -> T {
        guard bytes.count <= Int(Int32.max) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: [], debugDescription: "The document is larger than 2 GiB"))
        }
        return try DecoderState.withState(bytes, options) { state in
            let root = DecoderState.Value(code: valueType.rawValue, start: 0, end: bytes.count)
            return try state.decode(type, root, state.push(root, parent: -1, key: nil))
        }
    }
}

/// The `Decoder` that the `init(from:)` of a value gets: a handle of the frame of the value.
struct BSONValueDecoder: Decoder {
    let state: DecoderState
    let handle: DecoderState.Handle

    var codingPath: [any CodingKey] { state.path(handle) }
    var userInfo: [CodingUserInfoKey: Any] { state.options.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        _ = try state.open(handle, as: .document)
        return KeyedDecodingContainer(BSONKeyedDecodingContainer<Key>(state: state, handle: handle))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let value = try state.open(handle, as: .array)
        return BSONUnkeyedDecodingContainer(state: state, handle: handle, offset: Int32(value.start + 4))
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        try state.check(handle)
        return BSONSingleValueDecodingContainer(state: state, handle: handle)
    }
}
