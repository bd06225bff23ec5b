import Foundation

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

/// The `Encoder` that the `encode(to:)` of a value gets: a handle of the frame of the value.
struct BSONValueEncoder: Encoder {
    let state: EncoderState
    let handle: EncoderState.Handle

    var codingPath: [any CodingKey] { state.path(handle) }
    var userInfo: [CodingUserInfoKey: Any] { state.options.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        state.open(handle, as: .keyed)
        return KeyedEncodingContainer(BSONKeyedEncodingContainer<Key>(state: state, handle: handle))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        state.open(handle, as: .unkeyed)
        return BSONUnkeyedEncodingContainer(state: state, handle: handle)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        BSONSingleValueEncodingContainer(state: state, handle: handle)
    }
}

// MARK: - BSONCodingStrategies: storing

extension BSONCodingStrategies {
    /// Whether all values have BSON's own types.
    package var isStandard: Bool {
        guard case .bsonDate = date, data == .binary, uuid == .binary, url == .string else { return false }
        return decimal == .decimal128 && double == .exact
    }

    /// A document of an update with its values in the form in which these strategies store them: a date as text, for
    /// example.
    ///
    /// A value that cannot be stored in that form stays as it is, and so does what is nested too deep for a query.
    package func stored(_ document: BSONDocument) -> BSONDocument {
        isStandard ? document : converted(document, depth: 1)
    }

    /// A value in the form in which these strategies store it.
    package func stored(_ value: BSONValue) -> BSONValue {
        isStandard ? value : converted(value, depth: 0)
    }

    private func converted(_ document: BSONDocument, depth: Int) -> BSONDocument {
        BSONDocument(document.map { ($0.key, converted($0.value, depth: depth)) })
    }

    private func converted(_ value: BSONValue, depth: Int) -> BSONValue {
        switch value {
        case .document, .array: if depth >= BSONDocument.maximumDepth { return value }
        default: break
        }
        switch value {
        case .document(let document): return .document(converted(document, depth: depth + 1))
        case .array(let array): return BSONValue(array.map { converted($0, depth: depth + 1) })
        case .date(let milliseconds):
            return encoded(Date(timeIntervalSince1970: Double(milliseconds) / 1000)) ?? value
        case .binary(let binary) where binary.subtype == .uuid:
            return binary.uuid.flatMap { encoded($0) } ?? value
        case .binary(let binary) where binary.subtype == .generic:
            return encoded(binary.data) ?? value
        case .decimal128(let number):
            return Decimal(exactly: number).flatMap { encoded($0) } ?? value
        default: return value
        }
    }

    private func encoded(_ value: some Encodable) -> BSONValue? {
        var encoder = BSONEncoder()
        encoder.strategies = self
        return try? encoder.encodeValue(value)
    }
}

// MARK: - BSONCodingStrategies: matching

/// Dates that others have stored as text without a fraction, such as `2024-05-01T12:00:00Z`: they equal those of whole seconds,
/// which these strategies store with three digits.
extension BSONCodingStrategies {
    /// The forms in which documents may hold a date that is stored as a value; that value is the first.
    package func forms(ofDate stored: BSONValue) -> [BSONValue] {
        guard case .iso8601 = date, case .string(let text) = stored, let seconds = text.dropping(suffix: ".000Z") else {
            return [stored]
        }
        return [stored, .string(seconds + "Z")]
    }

    /// A query where equality with a date has the one form again that these strategies store, for the document that an upsert
    /// makes of it.
    package func withoutForms(_ query: BSONDocument) -> BSONDocument {
        guard case .iso8601 = date else { return query }
        return BSONDocument(
            query.map { key, value in
                if key == "$and", case .array(let parts) = value {
                    return (key, BSONValue(parts.map { $0.documentValue.map { .document(withoutForms($0)) } ?? $0 }))
                }
                guard case .document(let condition) = value, condition.count == 1,
                    let forms = condition["$in"]?.arrayValue, forms.count == 2, let first = forms.first,
                    self.forms(ofDate: first) == Array(forms)
                else { return (key, value) }
                return (key, first)
            })
    }
}
