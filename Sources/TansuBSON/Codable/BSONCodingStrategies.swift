import Foundation

/// How `Date` values are stored.
public enum BSONDateStrategy: Sendable {
    /// As BSON's date: milliseconds since 1970, rounded.
    case bsonDate
    /// As text in milliseconds, rounded, such as `2024-05-01T12:00:00.250Z`, for the years 0 to 9999.
    ///
    /// The text always has three digits of milliseconds, so that it has the order of the dates. Text with another
    /// fraction, with none, or in another time zone is read, too, but is compared as text in queries; only equality with
    /// whole seconds also finds `2024-05-01T12:00:00Z`.
    case iso8601
    /// As a double: seconds since 1970.
    case secondsSince1970
    /// As an int64: milliseconds since 1970, rounded.
    case millisecondsSince1970
    /// As `Date` encodes itself: a double, seconds since 2001.
    case deferredToDate
    /// As a value that the first closure makes of a date and the second closure converts back.
    ///
    /// Queries use the order of what is stored when it is a number or a date; comparing text by order is an error.
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
    /// As text in base64, which is not in the order of the bytes: queries that compare or sort by it are errors.
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
///
/// A `Decimal` has up to 38 digits, such as the result of a division, and a decimal128 has 34.
///
/// Whatever the strategy, except for text, numbers of all types are read: a double with a fraction as its shortest text,
/// so that 7.1 is 7.1, all others exactly.
public enum BSONDecimalStrategy: Sendable, Hashable {
    /// As decimal128. Digits after the decimal point are rounded, half to even, when the number has more than 34 digits;
    /// more than 34 digits before the point are an error.
    case decimal128
    /// As decimal128. A number of more than 34 digits is an error.
    case exactDecimal128
    /// As decimal128, rounded when the number has more than 34 digits.
    case roundedDecimal128(BSONRoundingRule)
    /// As a double, for documents that others write. A number that is not the shortest text of a double is an error:
    /// it would be read as another one.
    case double
    /// As text, which is not in the order of the numbers: queries that compare, sort or compute with it are errors.
    case string
}

/// How numbers are read as `Double` that it does not represent exactly.
public enum BSONDoubleStrategy: Sendable, Hashable {
    /// They are errors, except that a decimal may be the shortest text of the double: 7.1 is read as 7.1.
    case exact
    /// As the nearest double. A number out of the range of doubles is an error.
    case rounded
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
    /// It is read from `_id` at every level, so that a document that a query joined is decoded as in its own
    /// collection; in a nested document without `_id` it is read from `id`. Keys of dictionaries are stored as they are.
    case automatic
    /// Keys are stored as they are.
    case none
}

/// How values of Foundation's types are stored, for an encoder, a decoder or a collection.
///
/// For example, for a database that other programs write as JSON:
///
/// ```swift
/// let visits = try db.collection("visits", of: Visit.self, coding: BSONCodingStrategies(date: .iso8601, uuid: .string))
/// ```
public struct BSONCodingStrategies: Sendable {
    /// How `Date` values are stored.
    public var date: BSONDateStrategy
    /// How `Data` values are stored.
    public var data: BSONDataStrategy
    /// How `UUID` values are stored.
    public var uuid: BSONUUIDStrategy
    /// How `URL` values are stored.
    public var url: BSONURLStrategy
    /// How `Decimal` values are stored.
    public var decimal: BSONDecimalStrategy
    /// How numbers are read as `Double` that it does not represent exactly.
    public var double: BSONDoubleStrategy

    /// Makes strategies: BSON's own types unless set.
    public init(
        date: BSONDateStrategy = .bsonDate, data: BSONDataStrategy = .binary, uuid: BSONUUIDStrategy = .binary,
        url: BSONURLStrategy = .string, decimal: BSONDecimalStrategy = .decimal128,
        double: BSONDoubleStrategy = .exact
    ) {
        self.date = date
        self.data = data
        self.uuid = uuid
        self.url = url
        self.decimal = decimal
        self.double = double
    }

    /// What documents have that come from plain JSON: dates as text of ISO 8601, bytes in base64, UUIDs as text and
    /// decimals as doubles.
    public static var json: Self { Self(date: .iso8601, data: .base64, uuid: .string, decimal: .double) }
}

/// The options that an encoder and a decoder have in common.
struct BSONCodingOptions: Sendable {
    var date = BSONDateStrategy.bsonDate
    var data = BSONDataStrategy.binary
    var uuid = BSONUUIDStrategy.binary
    var url = BSONURLStrategy.string
    var decimal = BSONDecimalStrategy.decimal128
    var double = BSONDoubleStrategy.exact
    var idMapping = BSONIDMapping.automatic
    var usesDirectCoding = true
    var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    var strategies: BSONCodingStrategies {
        get {
            BSONCodingStrategies(date: date, data: data, uuid: uuid, url: url, decimal: decimal, double: double)
        }
        set {
            (date, data, uuid) = (newValue.date, newValue.data, newValue.uuid)
            (url, decimal, double) = (newValue.url, newValue.decimal, newValue.double)
        }
    }

    /// Whether the options retain objects of the caller, so that a cached state must not keep them.
    var holdsReferences: Bool {
        if case .custom = date { return true }
        return !userInfo.isEmpty
    }
}
