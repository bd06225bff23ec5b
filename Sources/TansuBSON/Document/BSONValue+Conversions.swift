import Foundation

extension BSONValue {
    /// Creates an int32 value when the number fits, otherwise an int64 value.
    public init(_ value: Int) { self.init(Int64(value)) }

    init(_ value: Int64) {
        if let small = Int32(exactly: value) { self = .int32(small) } else { self = .int64(value) }
    }

    /// Creates a double value.
    public init(_ value: Double) { self = .double(value) }

    /// Creates a decimal value. A number of more than 34 digits is rounded to 34, half to even.
    public init(_ value: Decimal) { self = .decimal128(Decimal128(value)) }

    /// Creates a decimal value that equals a number, or nil when the number has more than 34 digits.
    public init?(exactly value: Decimal) {
        guard let number = Decimal128(exactly: value) else { return nil }
        self = .decimal128(number)
    }

    /// Creates a decimal value.
    public init(_ value: Decimal128) { self = .decimal128(value) }

    /// Creates a string value.
    public init(_ value: String) { self = .string(value) }

    /// Creates a boolean value.
    public init(_ value: Bool) { self = .bool(value) }

    /// Creates an id value.
    public init(_ value: ObjectID) { self = .objectID(value) }

    /// Creates a document value.
    public init(_ value: BSONDocument) { self = .document(value) }

    /// Creates an array value.
    public init(_ value: BSONArray) { self = .array(value) }

    /// Creates an array value.
    public init(_ values: [BSONValue]) { self = .array(BSONArray(values)) }

    /// Creates a binary value.
    public init(_ value: Data) { self = .binary(BSONBinary(value)) }

    /// Creates a binary value of subtype 4.
    public init(_ value: UUID) { self = .binary(BSONBinary(value)) }

    /// Creates a code value, with a scope when the code has one.
    public init(_ value: BSONCode) {
        self = value.scope == nil ? .code(value.code) : .codeWithScope(value)
    }

    /// Creates a date value, to the nearest millisecond.
    ///
    /// A date beyond the range of 64-bit milliseconds is clamped to that range, and NaN becomes the least date. A
    /// ``BSONEncoder`` throws for both.
    public init(_ value: Date) {
        let milliseconds = (value.timeIntervalSince1970 * 1000).rounded()
        self = .date(Int64(exactly: milliseconds) ?? (milliseconds > 0 ? .max : .min))
    }

    /// A date value, to the nearest millisecond; out of range as ``init(_:)-(Date)`` says.
    public static func date(_ value: Date) -> BSONValue { BSONValue(value) }
}

extension BSONValue {
    /// The text of a string value.
    public var stringValue: String? { if case .string(let value) = self { value } else { nil } }

    /// The number as `Int`, or nil unless the value is a number that `Int` represents exactly.
    public var intValue: Int? { int64Value.flatMap { Int(exactly: $0) } }

    /// The number as `Int64`, or nil unless the value is a number that `Int64` represents exactly.
    public var int64Value: Int64? {
        switch self {
        case .int32(let value): Int64(value)
        case .int64(let value): value
        case .double(let value): Int64(exactly: value)
        case .decimal128(let value): Int64(exactly: value)
        default: nil
        }
    }

    /// The number as `Double`, or nil unless the value is a number that `Double` represents exactly.
    ///
    /// A decimal is also represented by the double of which it is the shortest text: 7.1 by 7.1.
    public var doubleValue: Double? {
        switch self {
        case .double(let value): value
        case .int32(let value): Double(value)
        case .int64(let value): Double(exactly: value)
        case .decimal128(let value): Double(lossless: value)
        default: nil
        }
    }

    /// The number as `Decimal`, or nil unless the value is a number that `Decimal` represents exactly.
    ///
    /// A double with a fraction is the decimal of its shortest text: 7.1 is 7.1.
    public var decimalValue: Decimal? {
        switch self {
        case .double(let value): Decimal(exactly: Decimal128(shortest: value))
        case .int32(let value): Decimal(value)
        case .int64(let value): Decimal(value)
        case .decimal128(let value): Decimal(exactly: value)
        default: nil
        }
    }

    /// The boolean value.
    public var boolValue: Bool? { if case .bool(let value) = self { value } else { nil } }

    /// The document of a document value.
    public var documentValue: BSONDocument? { if case .document(let value) = self { value } else { nil } }

    /// The array of an array value.
    public var arrayValue: BSONArray? { if case .array(let value) = self { value } else { nil } }

    /// The id of an id value.
    public var objectIDValue: ObjectID? { if case .objectID(let value) = self { value } else { nil } }

    /// The bytes of a binary value.
    public var binaryValue: BSONBinary? { if case .binary(let value) = self { value } else { nil } }

    /// The date of a date value.
    public var dateValue: Date? {
        if case .date(let value) = self { Date(timeIntervalSince1970: Double(value) / 1000) } else { nil }
    }

    /// The number of a decimal value.
    public var decimal128Value: Decimal128? { if case .decimal128(let value) = self { value } else { nil } }

    /// The regular expression of a regular expression value.
    public var regularExpressionValue: BSONRegularExpression? {
        if case .regularExpression(let value) = self { value } else { nil }
    }

    /// The timestamp of a timestamp value.
    public var timestampValue: BSONTimestamp? { if case .timestamp(let value) = self { value } else { nil } }

    /// Whether the value is null.
    public var isNull: Bool { if case .null = self { true } else { false } }
}

extension BSONValue {
    var codeValue: BSONCode? {
        switch self {
        case .code(let code): BSONCode(code)
        case .codeWithScope(let code): code
        default: nil
        }
    }

    var dbPointerValue: BSONDBPointer? { if case .dbPointer(let value) = self { value } else { nil } }

    var symbolValue: BSONSymbol? { if case .symbol(let value) = self { value } else { nil } }
}
