import Foundation

/// How `Date` values are stored.
public enum BSONDateStrategy: Sendable {
    /// As BSON's date: milliseconds since 1970, rounded.
    case bsonDate
    /// As text in milliseconds, rounded, such as `2024-05-01T12:00:00.250Z`.
    case iso8601
    /// As a double: seconds since 1970.
    case secondsSince1970
    /// As an int64: milliseconds since 1970, rounded.
    case millisecondsSince1970
    /// As `Date` encodes itself: a double, seconds since 2001.
    case deferredToDate
    /// As a value that the first closure makes of a date and the second closure converts back.
    ///
    /// An `EncodingError` or a `DecodingError` that a closure throws is rethrown. Any other error is wrapped in one
    /// that has the path of the field.
    indirect case custom(
        encode: @Sendable (Date) throws -> BSONValue, decode: @Sendable (BSONValue) throws -> Date)
}

/// How `Data` values are stored.
public enum BSONDataStrategy: Sendable, Hashable {
    /// As binary of the generic subtype.
    case binary
    /// As text in base64.
    case base64
}

/// How `UUID` values are stored.
public enum BSONUUIDStrategy: Sendable, Hashable {
    /// As binary of subtype 4.
    case binary
    /// As text, such as `E621E1F8-C36C-495A-93FC-0C247A3E6E5F`.
    case string
}

/// How `Decimal` values are stored.
public enum BSONDecimalStrategy: Sendable, Hashable {
    /// As decimal128, which has 34 digits. A number with more digits is an error.
    case decimal128
    /// As text.
    case string
}

/// How `URL` values are stored.
public enum BSONURLStrategy: Sendable, Hashable {
    /// As text: the absolute string. A relative URL becomes absolute.
    case string
    /// As `URL` encodes itself: a document of the relative string and the base.
    case deferredToURL
}

/// The mapping between a property `id` and the document's `_id`.
public enum BSONIDMapping: Sendable, Hashable {
    /// At the top level a coding key `id` is stored as `_id`, unless the type has its own coding key `_id`.
    ///
    /// Keys of dictionaries are stored as they are.
    case automatic
    /// Keys are stored as they are.
    case none
}

/// The options that an encoder and a decoder have in common.
struct BSONCodingOptions: Sendable {
    var date = BSONDateStrategy.bsonDate
    var data = BSONDataStrategy.binary
    var uuid = BSONUUIDStrategy.binary
    var url = BSONURLStrategy.string
    var decimal = BSONDecimalStrategy.decimal128
    var idMapping = BSONIDMapping.automatic
    var usesDirectCoding = true
    var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// Whether the options retain objects of the caller, so that a cached state must not keep them.
    var holdsReferences: Bool {
        if case .custom = date { return true }
        return !userInfo.isEmpty
    }
}
