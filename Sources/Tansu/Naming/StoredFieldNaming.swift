/// A type that says itself under which names its properties are stored, for queries by key path.
///
/// Most types need not: the names are found by encoding made-up values of the type, renames by `CodingKeys` among
/// them. It is for a type that cannot be decoded from made-up values, or that encodes a property in a form other
/// than the property's own:
///
/// ```swift
/// extension Reading: StoredFieldNaming {
///     static var storedFieldNames: [PartialKeyPath<Reading>: String] { [\.celsius: "t", \.station: "s"] }
/// }
/// ```
///
/// Such a type is taken at its word and never tried out: a property that is not in the list is an error in queries.
public protocol StoredFieldNaming {
    /// The key in the document for each property that queries ask about. Not a path: a dot in it is a dot in the key.
    static var storedFieldNames: [PartialKeyPath<Self>: String] { get }
}

extension StoredFieldNaming {
    /// The name for a key path of any root; `nil` when the list has none.
    static func storedName(of keyPath: AnyKeyPath) -> String? {
        (keyPath as? PartialKeyPath<Self>).flatMap { storedFieldNames[$0] }
    }
}
