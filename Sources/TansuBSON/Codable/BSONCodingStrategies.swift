/// How `Date` values are stored.
public enum BSONDateStrategy: Sendable, Hashable {
    /// As BSON's date: milliseconds since 1970. What is finer than a millisecond is rounded.
    case bsonDate
    /// As text, such as `2024-05-01T12:00:00.250Z`. What is finer than a millisecond is rounded.
    case iso8601
    /// As a double: seconds since 1970.
    case secondsSince1970
    /// As an int64: milliseconds since 1970, rounded.
    case millisecondsSince1970
    /// As `Date` encodes itself: a double, seconds since 2001.
    case deferredToDate
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
    /// As decimal128, which has 34 digits; a number that needs more is an error.
    case decimal128
    /// As text.
    case string
}

/// Whether a property `id` is the document's `_id`.
public enum BSONIDMapping: Sendable, Hashable {
    /// At the top level a coding key `id` is stored as `_id`, unless the type has a coding key `_id` of its own.
    ///
    /// Dictionaries have every key, so theirs are stored as they are.
    case automatic
    /// Keys are stored as they are.
    case none
}

/// What an encoder and a decoder agree on.
struct BSONCodingOptions: Sendable {
    var date = BSONDateStrategy.bsonDate
    var data = BSONDataStrategy.binary
    var uuid = BSONUUIDStrategy.binary
    var decimal = BSONDecimalStrategy.decimal128
    var idMapping = BSONIDMapping.automatic
    var userInfo: [CodingUserInfoKey: any Sendable] = [:]
}

/// The position of an element in an array, or the name of a superclass's place, as a coding key.
struct BSONCodingKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    static let superclass = BSONCodingKey(stringValue: "super")

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        stringValue = "Index \(intValue)"
        self.intValue = intValue
    }
}

/// A value as another type, when that is the type it has.
///
/// The one unsafe cast of the module: `as?` looks conformances up at run time, which takes longer than to encode or
/// decode the value. The cast is only made when both types are the same.
@inline(__always)
func sameType<From, To>(_ value: From, as type: To.Type) -> To? {
    From.self == To.self ? unsafeBitCast(value, to: To.self) : nil
}

/// Whether a type of keys has one for the id, remembered for the type that was asked for last: finding it out takes
/// longer than encoding a field, and most encoders see the same type again and again.
struct IDKeyMemory {
    private var type: ObjectIdentifier?
    private var hasOwnID = false

    @inline(__always)
    mutating func hasOwnID<Key: CodingKey>(_ key: Key.Type) -> Bool {
        if type != ObjectIdentifier(key) {
            type = ObjectIdentifier(key)
            hasOwnID = Self.find(key)
        }
        return hasOwnID
    }

    // Not inlined, because a generic function that handles an optional key looks that type up whenever it is called.
    @inline(never)
    private static func find<Key: CodingKey>(_ key: Key.Type) -> Bool { Key(stringValue: "_id") != nil }
}
