/// A type that reads its own fields, which is faster than the code that the compiler generates for `Decodable`.
///
/// For example:
/// ```swift
/// extension City: BSONReadable {
///     init(reading fields: inout BSONFieldReader) throws {
///         id = try fields.read("_id")
///         name = try fields.read("name")
///         position = try fields.read("position")
///     }
/// }
/// ```
///
/// Fields can be read in any order. The stored order is the fastest. ``BSONDecoder`` uses it for values of this type at
/// any position, unless ``BSONDecoder/usesDirectCoding`` is false.
public protocol BSONReadable: Decodable, AnyIsolation {
    /// Creates a value from its fields.
    ///
    /// - Throws: `DecodingError` when a field is missing or of another type. Errors that the value throws are rethrown.
    init(reading fields: inout BSONFieldReader) throws
}
