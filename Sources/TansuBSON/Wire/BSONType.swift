/// The type byte of a BSON element.
public enum BSONType: UInt8, Sendable, Hashable, CaseIterable {
    /// A floating-point number of 64 bits.
    case double = 0x01
    /// A text.
    case string = 0x02
    /// A document.
    case document = 0x03
    /// An array.
    case array = 0x04
    /// Bytes with a subtype.
    case binary = 0x05
    /// Deprecated: no value.
    case undefined = 0x06
    /// An id of twelve bytes.
    case objectID = 0x07
    /// True or false.
    case bool = 0x08
    /// A date in milliseconds since 1970.
    case date = 0x09
    /// Null.
    case null = 0x0A
    /// A regular expression.
    case regularExpression = 0x0B
    /// Deprecated: a pointer to a document of another collection.
    case dbPointer = 0x0C
    /// JavaScript code.
    case code = 0x0D
    /// Deprecated: a string of another type.
    case symbol = 0x0E
    /// JavaScript code with its scope.
    case codeWithScope = 0x0F
    /// An integer of 32 bits.
    case int32 = 0x10
    /// MongoDB's internal timestamp.
    case timestamp = 0x11
    /// An integer of 64 bits.
    case int64 = 0x12
    /// A decimal floating-point number of 34 digits.
    case decimal128 = 0x13
    /// A value that sorts after every other value.
    case maxKey = 0x7F
    /// A value that sorts before every other value.
    case minKey = 0xFF
}

extension BSONType: CustomStringConvertible {
    /// The name that the `$type` operator uses for the type.
    public var description: String {
        switch self {
        case .double: "double"
        case .string: "string"
        case .document: "object"
        case .array: "array"
        case .binary: "binData"
        case .undefined: "undefined"
        case .objectID: "objectId"
        case .bool: "bool"
        case .date: "date"
        case .null: "null"
        case .regularExpression: "regex"
        case .dbPointer: "dbPointer"
        case .code: "javascript"
        case .symbol: "symbol"
        case .codeWithScope: "javascriptWithScope"
        case .int32: "int"
        case .timestamp: "timestamp"
        case .int64: "long"
        case .decimal128: "decimal"
        case .maxKey: "maxKey"
        case .minKey: "minKey"
        }
    }
}
