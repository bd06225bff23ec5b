/// A type that writes its own fields, which is faster than the code that the compiler generates for `Encodable`.
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
/// ``BSONEncoder`` uses it for values of this type at any position: at the top level, in properties and in arrays.
/// Other encoders use `encode(to:)`, and so does ``BSONEncoder`` when ``BSONEncoder/usesDirectCoding`` is false.
///
/// Both must give the same document. Otherwise queries by key path do not find the fields. Write the stored names, so
/// `_id` for a property `id`, and omit fields that are nil.
public protocol BSONWritable: Encodable, AnyIsolation {
    /// Writes the fields in the order in which they are stored.
    ///
    /// - Throws: The errors of the field writer.
    func write(to fields: inout BSONFieldWriter) throws
}
