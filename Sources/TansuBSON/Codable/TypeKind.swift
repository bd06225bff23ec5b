import Foundation

/// The way in which the coders handle the values of a type.
enum TypeKind: UInt8, Sendable {
    /// The type's own `encode(to:)` and `init(from:)`.
    case codable
    /// The type's ``BSONWritable`` or ``BSONReadable`` conformance.
    case direct
    /// A set or a dictionary, whose members the encoder sorts (``HashOrdered``).
    case hashed
    // Types that every encoder knows.
    case bool, string, double, float, int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64
    // Foundation's types, which have strategies.
    case date, data, uuid, url, decimal
    // This module's types.
    case objectID, value, document, array, decimal128, binary, timestamp, regularExpression, code, dbPointer, symbol

    /// The kinds of all types that the coders know.
    static let known: [ObjectIdentifier: TypeKind] = [
        ObjectIdentifier(Bool.self): .bool, ObjectIdentifier(String.self): .string,
        ObjectIdentifier(Double.self): .double, ObjectIdentifier(Float.self): .float,
        ObjectIdentifier(Int.self): .int, ObjectIdentifier(Int8.self): .int8, ObjectIdentifier(Int16.self): .int16,
        ObjectIdentifier(Int32.self): .int32, ObjectIdentifier(Int64.self): .int64,
        ObjectIdentifier(UInt.self): .uint, ObjectIdentifier(UInt8.self): .uint8,
        ObjectIdentifier(UInt16.self): .uint16, ObjectIdentifier(UInt32.self): .uint32,
        ObjectIdentifier(UInt64.self): .uint64,
        ObjectIdentifier(Date.self): .date, ObjectIdentifier(Data.self): .data, ObjectIdentifier(UUID.self): .uuid,
        ObjectIdentifier(URL.self): .url, ObjectIdentifier(Decimal.self): .decimal,
        ObjectIdentifier(ObjectID.self): .objectID, ObjectIdentifier(BSONValue.self): .value,
        ObjectIdentifier(BSONDocument.self): .document, ObjectIdentifier(BSONArray.self): .array,
        ObjectIdentifier(Decimal128.self): .decimal128, ObjectIdentifier(BSONBinary.self): .binary,
        ObjectIdentifier(BSONTimestamp.self): .timestamp,
        ObjectIdentifier(BSONRegularExpression.self): .regularExpression, ObjectIdentifier(BSONCode.self): .code,
        ObjectIdentifier(BSONDBPointer.self): .dbPointer, ObjectIdentifier(BSONSymbol.self): .symbol,
    ]

    /// The kind of a type that the coders know, or of the one property of a type; `nil` for other types.
    static func known(_ type: any Any.Type) -> TypeKind? {
        known[ObjectIdentifier(type)]
            ?? (type as? any BSONTransparent.Type).flatMap { known[ObjectIdentifier($0.storedPropertyType)] }
    }
}

/// A cached type with its kind. `direct` is its ``BSONWritable`` or ``BSONReadable`` metatype for kind `direct`.
struct TypeKindEntry<Direct> {
    var type: ObjectIdentifier?
    var kind = TypeKind.codable
    var direct: Direct?
}

/// A cache of the kinds of types.
///
/// Looking up the conformance of a type takes longer than coding a value of it, and most coders see few types.
struct TypeKindCache<Direct>: ~Copyable {
    // Direct-mapped: a type has one possible entry, and a later type with the same index replaces an earlier one.
    private var entries = Stack<TypeKindEntry<Direct>>(capacity: 64)

    init() {
        for _ in 0..<64 { entries.append(TypeKindEntry()) }
    }

    /// The kind of a type.
    ///
    /// - Parameter direct: Looks up the type's ``BSONWritable`` or ``BSONReadable`` conformance.
    @inline(__always)
    mutating func kind(_ type: Any.Type, _ direct: (Any.Type) -> Direct?) -> TypeKind {
        let id = ObjectIdentifier(type)
        let index = Self.index(id)
        if entries[index].type != id { insert(type, direct(type), at: index) }
        return entries[index].kind
    }

    /// The cached metatype of a type of kind `direct`.
    func direct(_ type: Any.Type) -> Direct? {
        let id = ObjectIdentifier(type)
        let index = Self.index(id)
        return entries[index].type == id ? entries[index].direct : nil
    }

    @inline(__always)
    private static func index(_ id: ObjectIdentifier) -> Int {
        // Type metadata is aligned to 8 bytes at least, so the low bits carry no information.
        let bits = UInt(bitPattern: id)
        return Int(truncatingIfNeeded: (bits >> 4 ^ bits >> 10) & 63)
    }

    @inline(never)
    private mutating func insert(_ type: Any.Type, _ direct: Direct?, at index: Int) {
        let id = ObjectIdentifier(type)
        let kind = TypeKind.known(type) ?? (direct != nil ? .direct : type is any HashOrdered.Type ? .hashed : .codable)
        entries[index] = TypeKindEntry(type: id, kind: kind, direct: direct)
    }
}

/// A struct with one stored property, whose values are coded as that property.
///
/// The coders handle it natively where they do so for the property's type: they take the property for the value, which has
/// the same bytes in memory. So a reference takes no longer than its id. Its `encode(to:)` and `init(from:)` must code
/// the property in a single-value container; they are called by other coders, and for other types of properties.
package protocol BSONTransparent {
    /// The type of the property.
    static var storedPropertyType: any Any.Type { get }
}

/// A type that encodes its members in the order of their hashes, which differs between equal values and between
/// processes. The encoder sorts them, so that equal values have equal bytes.
protocol HashOrdered {
    /// How many elements of an array a member is, where members are stored in one.
    static var elementsPerMember: Int { get }
}

extension Set: HashOrdered {
    static var elementsPerMember: Int { 1 }
}

extension Dictionary: HashOrdered {
    static var elementsPerMember: Int { 2 }
}
