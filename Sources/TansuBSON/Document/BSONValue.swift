/// A value of any BSON type.
///
/// Literals create values: `let value: BSONValue = ["name": "mike", "age": 12, "tags": ["a", "b"], "pet": nil]`.
///
/// Two values are equal when their stored bytes are equal. So `1` and `1.0` are different values of this type, and a
/// NaN equals itself. A database compares numbers by their value.
public enum BSONValue: Sendable {
    /// A floating-point number of 64 bits.
    case double(Double)
    /// A text.
    case string(String)
    /// A document inside the document.
    case document(BSONDocument)
    /// An array of values.
    case array(BSONArray)
    /// Bytes with a subtype.
    case binary(BSONBinary)
    /// Deprecated; kept so that every document can be read and written.
    case undefined
    /// An id of twelve bytes.
    case objectID(ObjectID)
    /// True or false.
    case bool(Bool)
    /// A date in milliseconds since 1970.
    case date(Int64)
    /// Null: the field exists and has no value.
    case null
    /// A regular expression.
    indirect case regularExpression(BSONRegularExpression)
    /// Deprecated; kept so that every document can be read and written.
    indirect case dbPointer(BSONDBPointer)
    /// JavaScript code.
    case code(String)
    /// Deprecated; kept so that every document can be read and written.
    case symbol(BSONSymbol)
    /// JavaScript code with a scope.
    indirect case codeWithScope(BSONCode)
    /// An integer of 32 bits.
    case int32(Int32)
    /// MongoDB's internal timestamp, which is not a date.
    case timestamp(BSONTimestamp)
    /// An integer of 64 bits.
    case int64(Int64)
    /// A decimal floating-point number of 34 digits.
    case decimal128(Decimal128)
    /// A value that sorts before every other value.
    case minKey
    /// A value that sorts after every other value.
    case maxKey
}

extension BSONValue {
    /// The type of the value.
    public var type: BSONType {
        switch self {
        case .double: .double
        case .string: .string
        case .document: .document
        case .array: .array
        case .binary: .binary
        case .undefined: .undefined
        case .objectID: .objectID
        case .bool: .bool
        case .date: .date
        case .null: .null
        case .regularExpression: .regularExpression
        case .dbPointer: .dbPointer
        case .code: .code
        case .symbol: .symbol
        case .codeWithScope: .codeWithScope
        case .int32: .int32
        case .timestamp: .timestamp
        case .int64: .int64
        case .decimal128: .decimal128
        case .minKey: .minKey
        case .maxKey: .maxKey
        }
    }
}

extension BSONValue: Hashable {
    /// Whether the stored bytes of two values are equal.
    public static func == (a: BSONValue, b: BSONValue) -> Bool {
        switch (a, b) {
        case (.double(let x), .double(let y)): x.bitPattern == y.bitPattern
        case (.string(let x), .string(let y)): x.utf8.elementsEqual(y.utf8)
        case (.document(let x), .document(let y)): x == y
        case (.array(let x), .array(let y)): x == y
        case (.binary(let x), .binary(let y)): x == y
        case (.objectID(let x), .objectID(let y)): x == y
        case (.bool(let x), .bool(let y)): x == y
        case (.date(let x), .date(let y)): x == y
        case (.regularExpression(let x), .regularExpression(let y)): x == y
        case (.dbPointer(let x), .dbPointer(let y)): x == y
        case (.code(let x), .code(let y)): x.utf8.elementsEqual(y.utf8)
        case (.symbol(let x), .symbol(let y)): x == y
        case (.codeWithScope(let x), .codeWithScope(let y)): x == y
        case (.int32(let x), .int32(let y)): x == y
        case (.timestamp(let x), .timestamp(let y)): x == y
        case (.int64(let x), .int64(let y)): x == y
        case (.decimal128(let x), .decimal128(let y)): x == y
        case (.undefined, .undefined), (.null, .null), (.minKey, .minKey), (.maxKey, .maxKey): true
        default: false
        }
    }

    /// Feeds the type and the value to the hasher.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(type.rawValue)
        switch self {
        case .double(let x): hasher.combine(x.bitPattern)
        case .string(let x), .code(let x): hasher.combine(x)
        case .document(let x): hasher.combine(x)
        case .array(let x): hasher.combine(x)
        case .binary(let x): hasher.combine(x)
        case .objectID(let x): hasher.combine(x)
        case .bool(let x): hasher.combine(x)
        case .date(let x), .int64(let x): hasher.combine(x)
        case .regularExpression(let x): hasher.combine(x)
        case .dbPointer(let x): hasher.combine(x)
        case .symbol(let x): hasher.combine(x)
        case .codeWithScope(let x): hasher.combine(x)
        case .int32(let x): hasher.combine(x)
        case .timestamp(let x): hasher.combine(x)
        case .decimal128(let x): hasher.combine(x)
        case .undefined, .null, .minKey, .maxKey: break
        }
    }
}

// MARK: - Literals

extension BSONValue: ExpressibleByStringLiteral {
    /// A string value.
    public init(stringLiteral value: String) { self = .string(value) }
}

// The compiler requires this conformance for literals with interpolations.
extension BSONValue: ExpressibleByStringInterpolation {}

extension BSONValue: ExpressibleByIntegerLiteral {
    /// An int32 value when the number fits, otherwise an int64 value.
    public init(integerLiteral value: Int64) { self.init(value) }
}

extension BSONValue: ExpressibleByFloatLiteral {
    /// A double value.
    public init(floatLiteral value: Double) { self = .double(value) }
}

extension BSONValue: ExpressibleByBooleanLiteral {
    /// A boolean value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension BSONValue: ExpressibleByNilLiteral {
    /// The null value.
    public init(nilLiteral: ()) { self = .null }
}

extension BSONValue: ExpressibleByArrayLiteral {
    /// An array value.
    public init(arrayLiteral elements: BSONValue...) { self = .array(BSONArray(elements)) }
}

extension BSONValue: ExpressibleByDictionaryLiteral {
    /// A document value with the fields in the order of the literal.
    public init(dictionaryLiteral elements: (String, BSONValue)...) { self = .document(BSONDocument(elements)) }
}

// MARK: - Numbers

// Comparisons with numbers of Swift are by value: a sum is an int32, an int64, a double or a decimal, as its documents have it.
// Two values of BSON are equal only when their types are.
extension BSONValue? {
    /// Whether the value is a number that equals another, whatever its type: `.int64(3) == 3`.
    public static func == (value: Self, number: Int) -> Bool { value?.intValue == number }

    /// Whether the value is no number, or another one.
    public static func != (value: Self, number: Int) -> Bool { !(value == number) }

    /// Whether the value is a number that equals another, whatever its type: `.int32(3) == 3.0`.
    public static func == (value: Self, number: Double) -> Bool { value?.doubleValue == number }

    /// Whether the value is no number, or another one.
    public static func != (value: Self, number: Double) -> Bool { !(value == number) }
}

extension BSONValue {
    /// Whether the value is a number that equals another, whatever its type: `.int64(3) == 3`.
    public static func == (value: Self, number: Int) -> Bool { value.intValue == number }

    /// Whether the value is no number, or another one.
    public static func != (value: Self, number: Int) -> Bool { !(value == number) }

    /// Whether the value is a number that equals another, whatever its type: `.int32(3) == 3.0`.
    public static func == (value: Self, number: Double) -> Bool { value.doubleValue == number }

    /// Whether the value is no number, or another one.
    public static func != (value: Self, number: Double) -> Bool { !(value == number) }
}

// MARK: - BSONCode

/// JavaScript code, with or without a scope.
public struct BSONCode: Sendable, Hashable {
    /// The code.
    public var code: String
    /// The variables of the scope, or nil when the code has no scope.
    public var scope: BSONDocument?

    /// Creates a code value.
    public init(_ code: String, scope: BSONDocument? = nil) {
        self.code = code
        self.scope = scope
    }
}
