/// An encoder of `Encodable` values as documents.
///
/// For example:
/// ```swift
/// struct Pet: Codable { var species: String }
/// let document = try BSONEncoder().encode(Pet(species: "cat"))  // {"species": "cat"}
/// ```
///
/// <doc:CodableValues> lists the BSON types of Swift types and the strategies.
///
/// `Int` and the small integer types are stored as int32 when the number fits and as int64 otherwise, `Int64` and
/// `UInt64` always as int64, except for a number out of its range, which is stored as decimal128. `BSONValue`,
/// `BSONDocument`, `ObjectID` and the other types of this module are stored as their BSON types. Sets and dictionaries
/// are stored in the order of their bytes, so that equal values have equal documents.
///
/// An encoder is a value type. Threads can use the same encoder concurrently.
public struct BSONEncoder: Sendable {
    var options = BSONCodingOptions()

    /// Creates an encoder with the default strategies.
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

    /// Whether a property `id` is stored as `_id`: ``BSONIDMapping/automatic`` unless set.
    public var idMapping: BSONIDMapping {
        get { options.idMapping }
        set { options.idMapping = newValue }
    }

    /// Whether the encoder uses ``BSONWritable``: true unless set.
    ///
    /// When it is false, the encoder uses `encode(to:)` of these types. Both must give the same documents. A test can
    /// use this property to compare them.
    public var usesDirectCoding: Bool {
        get { options.usesDirectCoding }
        set { options.usesDirectCoding = newValue }
    }

    /// The `userInfo` of the encoder that values get.
    public var userInfo: [CodingUserInfoKey: any Sendable] {
        get { options.userInfo }
        set { options.userInfo = newValue }
    }

    /// Encodes a value as a document.
    ///
    /// - Throws: `EncodingError` when the value is not encoded as a document (a number or an array, for example), when
    ///   a number is out of range, a key contains a NUL character or values are nested too deep. Errors that the value
    ///   throws are rethrown.
    public func encode<T: Encodable>(_ value: T) throws -> BSONDocument {
        try withEncodedBytes(of: value) { BSONDocument(trustedBytes: [UInt8]($0)) }
    }

    /// Encodes a value as a document and calls a closure with its bytes, without copying them.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - body: A closure that must not let the pointer escape.
    /// - Throws: The errors of ``encode(_:)`` and of the closure.
    public func withEncodedBytes<T: Encodable, Result>(
        of value: T, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result {
        try EncoderState.withState(options) { state in
            let type = try state.encodeRoot(value)
            guard type == .document else {
                throw EncodingError.invalidValue(
                    safeValue(value),
                    .init(
                        codingPath: [], debugDescription: "A value of type \"\(type)\" is not a document"))
            }
            return try body(state.rootBytes)
        }
    }

    /// Encodes a value of any type, such as an id or the operand of a query.
    ///
    /// - Throws: The errors of ``encode(_:)``.
    public func encodeValue<T: Encodable>(_ value: T) throws -> BSONValue {
        var encoder = self
        // The value is not a stored document, so its `id` is an ordinary field.
        encoder.idMapping = .none
        return try EncoderState.withState(encoder.options) { state in
            let type = try state.encodeRoot(value)
            let bytes = state.rootBytes
            let element = RawElement(
                type: type, start: 0, keyStart: 0, keyLength: 0, valueStart: 0, valueEnd: bytes.count)
            return bytes.value(element) ?? .null
        }
    }
}
