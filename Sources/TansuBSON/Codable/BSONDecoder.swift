/// Turns documents into `Decodable` values.
///
/// For example:
/// ```swift
/// struct Pet: Codable { var species: String }
/// let pet = try BSONDecoder().decode(Pet.self, from: ["species": "cat"])
/// ```
///
/// What becomes of each type, and which strategies there are, is in <doc:CodableValues>.
///
/// Numbers convert between their types where that is exact and are refused otherwise; only `Float` rounds.
///
/// A decoder is a value: copies are independent, and one may be used by many threads at once.
public struct BSONDecoder: Sendable {
    var options = BSONCodingOptions()

    /// Creates a decoder with the default strategies.
    public init() {}

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

    /// Whether a property `id` is read from `_id`: ``BSONIDMapping/automatic`` unless set.
    public var idMapping: BSONIDMapping {
        get { options.idMapping }
        set { options.idMapping = newValue }
    }

    /// Whether types that are ``BSONReadable`` read their own fields: true unless set.
    ///
    /// Without it they are treated as any other Codable type. Both ways must give the same documents, which a test
    /// can compare so.
    public var usesDirectCoding: Bool {
        get { options.usesDirectCoding }
        set { options.usesDirectCoding = newValue }
    }

    /// What the values find in `decoder.userInfo`.
    public var userInfo: [CodingUserInfoKey: any Sendable] {
        get { options.userInfo }
        set { options.userInfo = newValue }
    }

    /// Decodes a value from a document.
    ///
    /// - Throws: `DecodingError` with the path of the field that is missing, null, of another type or out of range;
    ///   and what the value itself throws.
    @inlinable
    public func decode<T: Decodable>(_ type: T.Type, from document: BSONDocument) throws -> T {
        try document.withUnsafeBytes { try decode(type, fromTrusted: $0) }
    }

    /// Decodes a value from bytes in BSON's wire form, after checking all of them.
    ///
    /// - Throws: ``BSONError`` when the bytes are not a valid document, and as with a document.
    public func decode<T: Decodable>(_ type: T.Type, from bytes: some Collection<UInt8>) throws -> T {
        let decoded = try bytes.withContiguousStorageIfAvailable { storage in
            let raw = UnsafeRawBufferPointer(storage)
            try BSONValidator.validate(raw)
            return try decode(type, fromTrusted: raw)
        }
        return try decoded ?? decode(type, from: BSONDocument(bytes: bytes))
    }

    /// Decodes a value from any value of a document.
    ///
    /// - Throws: As with a document.
    public func decodeValue<T: Decodable>(_ type: T.Type, from value: BSONValue) throws -> T {
        var buffer = ByteBuffer(capacity: 64)
        buffer.append(value)
        var decoder = self
        // What is decoded here is not a stored document, so its `id` is an ordinary field.
        decoder.options.idMapping = .none
        return try decoder.decode(type, value.type, buffer.bytes)
    }

    /// Decodes a value in place from the bytes of a document that is known to be valid, such as what the engine holds.
    @usableFromInline
    package func decode<T: Decodable>(_ type: T.Type, fromTrusted bytes: UnsafeRawBufferPointer) throws -> T {
        try decode(type, .document, bytes)
    }

    private func decode<T: Decodable>(
        _ type: T.Type, _ valueType: BSONType, _ bytes: UnsafeRawBufferPointer
    ) throws -> T {
        guard bytes.count <= Int(Int32.max) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: [], debugDescription: "a document cannot be over 2 GiB"))
        }
        return try DecoderState.withState(bytes, options) { state in
            let root = DecoderState.Value(code: valueType.rawValue, start: 0, end: bytes.count)
            return try state.decode(type, root, state.push(root, parent: -1, key: nil))
        }
    }
}
