/// The type byte of a BSON element.
public enum BSONType: UInt8, Sendable, Hashable, CaseIterable {
    case double = 0x01
    case string = 0x02
    case document = 0x03
    case array = 0x04
    case binary = 0x05
    case undefined = 0x06
    case objectID = 0x07
    case bool = 0x08
    case date = 0x09
    case null = 0x0A
    case regularExpression = 0x0B
    case dbPointer = 0x0C
    case code = 0x0D
    case symbol = 0x0E
    case codeWithScope = 0x0F
    case int32 = 0x10
    case timestamp = 0x11
    case int64 = 0x12
    case decimal128 = 0x13
    case maxKey = 0x7F
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
