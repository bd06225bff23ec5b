/// A type that writes its own fields, which is faster than what the compiler makes for `Encodable`.
///
/// For example:
/// ```swift
/// extension City: BSONWritable {
///     func write(to fields: inout BSONFieldWriter) throws {
///         fields.write("_id", id)
///         fields.write("name", name)
///         try fields.write("position", position)
///     }
/// }
/// ```
///
/// ``BSONEncoder`` uses it wherever it meets such a type: as the whole value, in a property and in an array. Other
/// encoders go on using `encode(to:)`, and so does ``BSONEncoder`` when its ``BSONEncoder/usesDirectCoding`` is false.
///
/// Both must give the same document, or queries by key path do not find the fields: names are written as they are
/// stored, so an `id` is `_id`, and what is nil is left out.
public protocol BSONWritable: Encodable {
    /// Writes the fields in the order in which they are stored.
    ///
    /// - Throws: What writing a field throws.
    func write(to fields: inout BSONFieldWriter) throws
}

/// A type that reads its own fields, which is faster than what the compiler makes for `Decodable`.
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
/// Fields may be read in any order; reading them in the order in which they are stored is fastest. ``BSONDecoder``
/// uses it wherever it meets such a type, unless its ``BSONDecoder/usesDirectCoding`` is false.
public protocol BSONReadable: Decodable {
    /// Creates a value from its fields.
    ///
    /// - Throws: `DecodingError` when a field is missing or not of the wanted type, and what the value itself throws.
    init(reading fields: inout BSONFieldReader) throws
}
