public import Foundation

/// A type whose values can be compared in queries by key path and predicates: two values are equal exactly when they
/// are stored as equal values.
///
/// Numbers, strings, `Bool`, dates and ids conform; so do optionals and arrays of them. Enums with a raw value of such
/// a type need no conformance. A type of your own that is stored as one such value may conform:
///
/// ```swift
/// struct Email: Codable, Hashable, QueryValue { … }   // stored as a string
/// ```
///
/// Values are compared as they are stored: a `Date` to the millisecond.
public protocol QueryValue: Encodable, Sendable {}

/// A query value whose stored values have the order of the type.
public protocol QueryComparable: QueryValue {
    /// The type of the other operand: the type itself; for an optional the wrapped type.
    associatedtype QueryOperand: QueryValue & Comparable = Self
}

extension Bool: QueryValue {}
extension UUID: QueryValue {}
extension Data: QueryValue {}
extension URL: QueryValue {}
extension Duration: QueryValue {}
extension BSONValue: QueryValue {}
extension Decimal128: QueryValue {}
extension Array: QueryValue where Element: QueryValue {}
extension Optional: QueryValue where Wrapped: QueryValue {}

extension Int: QueryComparable {}
extension Int8: QueryComparable {}
extension Int16: QueryComparable {}
extension Int32: QueryComparable {}
extension Int64: QueryComparable {}
extension UInt: QueryComparable {}
extension UInt8: QueryComparable {}
extension UInt16: QueryComparable {}
extension UInt32: QueryComparable {}
extension UInt64: QueryComparable {}
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension Int128: QueryComparable {}
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension UInt128: QueryComparable {}
extension Double: QueryComparable {}
extension Float: QueryComparable {}
extension Decimal: QueryComparable {}
extension String: QueryComparable {}
extension Date: QueryComparable {}
extension ObjectID: QueryComparable {}

extension Optional: QueryComparable where Wrapped: QueryComparable {
    /// What the wrapped type is compared with.
    public typealias QueryOperand = Wrapped.QueryOperand
}

/// Text, or text that may be missing.
public protocol QueryText: QueryValue {}

extension String: QueryText {}
extension Optional: QueryText where Wrapped: QueryText {}

/// What is stored as an array, or may be missing.
public protocol QueryArray: AnyIsolation {
    /// The type of its elements.
    associatedtype QueryElement
}

extension Array: QueryArray {
    /// The type of its elements.
    public typealias QueryElement = Element
}

extension Set: QueryArray {
    /// The type of its elements.
    public typealias QueryElement = Element
}

extension Optional: QueryArray where Wrapped: QueryArray {
    /// The type of the wrapped array's elements.
    public typealias QueryElement = Wrapped.QueryElement
}

/// What is stored as a document with the keys of a dictionary, or may be missing.
public protocol QueryDictionary {
    /// The type of its values.
    associatedtype QueryElement
}

extension Dictionary: QueryDictionary where Key == String {
    /// The type of its values.
    public typealias QueryElement = Value
}

extension Optional: QueryDictionary where Wrapped: QueryDictionary {
    /// The type of the wrapped dictionary's values.
    public typealias QueryElement = Wrapped.QueryElement
}
