import Foundation

/// How `Date` values are stored.
public enum BSONDateStrategy: Sendable {
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
    /// As the value that a closure makes of a date, and another one reads.
    ///
    /// What a closure throws comes out of the coder, with the path of the field unless it is an error of a coder.
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
    /// As decimal128, which has 34 digits; a number that needs more is an error.
    case decimal128
    /// As text.
    case string
}

/// How `URL` values are stored.
public enum BSONURLStrategy: Sendable, Hashable {
    /// As text: the absolute string, so that a URL that is relative to another becomes absolute.
    case string
    /// As `URL` encodes itself: a document of the relative string and the base.
    case deferredToURL
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
    var url = BSONURLStrategy.string
    var decimal = BSONDecimalStrategy.decimal128
    var idMapping = BSONIDMapping.automatic
    var usesDirectCoding = true
    var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// Whether keeping the options for longer than a call would keep something of the caller's alive.
    var holdsReferences: Bool {
        if case .custom = date { return true }
        return !userInfo.isEmpty
    }
}

/// The position of an element in an array, or the name of a superclass's place, as a coding key.
struct BSONCodingKey: CodingKey {
    // Three words, so that a key fits into an existential without an allocation.
    private let text: String
    private let number: Int
    private static let none = Int.min

    static let superclass = BSONCodingKey(stringValue: "super")

    init(stringValue: String) {
        text = stringValue
        number = Self.none
    }

    init(intValue: Int) {
        text = ""
        number = intValue
    }

    var stringValue: String { number == Self.none ? text : "Index \(number)" }
    var intValue: Int? { number == Self.none ? nil : number }
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
