import Foundation

/// How the coders treat the values of a type.
enum TypeKind: UInt8, Sendable {
    /// By the type's own `encode(to:)` and `init(from:)`.
    case foreign
    /// By the type's own field writer or reader.
    case direct
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
}

/// A type, its kind, and for kind `direct` the type as one that reads or writes its own fields.
struct KnownType<Direct> {
    var type: ObjectIdentifier?
    var kind = TypeKind.foreign
    var direct: Direct?
}

/// What a coder has found out about the types that it met: asking for the conformance of a type takes longer than
/// encoding or decoding a value of it, and most coders meet the same few types again and again.
struct TypeMemory<Direct>: ~Copyable {
    // As many as a power of two, and a type has one place only: the last one that was met wins it.
    private var entries = Stack<KnownType<Direct>>(capacity: 64)

    init() {
        for _ in 0..<64 { entries.append(KnownType()) }
    }

    /// The kind of a type.
    ///
    /// - Parameter direct: Finds out whether the type reads or writes its own fields.
    @inline(__always)
    mutating func kind(_ type: Any.Type, _ direct: (Any.Type) -> Direct?) -> TypeKind {
        let id = ObjectIdentifier(type)
        let index = Self.index(id)
        if entries[index].type != id { learn(type, direct(type), at: index) }
        return entries[index].kind
    }

    /// The type itself, when it was found to be of kind `direct`.
    func direct(_ type: Any.Type) -> Direct? {
        let id = ObjectIdentifier(type)
        let index = Self.index(id)
        return entries[index].type == id ? entries[index].direct : nil
    }

    @inline(__always)
    private static func index(_ id: ObjectIdentifier) -> Int {
        // Types lie at multiples of 8 at least.
        let bits = UInt(bitPattern: id)
        return Int(truncatingIfNeeded: (bits >> 4 ^ bits >> 10) & 63)
    }

    @inline(never)
    private mutating func learn(_ type: Any.Type, _ direct: Direct?, at index: Int) {
        let id = ObjectIdentifier(type)
        let kind = TypeKind.known[id] ?? (direct == nil ? .foreign : .direct)
        entries[index] = KnownType(type: id, kind: kind, direct: direct)
    }
}
