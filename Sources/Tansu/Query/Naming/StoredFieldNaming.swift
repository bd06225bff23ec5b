/// A type that declares the stored names of its properties, for queries by key path.
///
/// Most types need not conform: the names, also those in `CodingKeys`, are found by encoding sample values of the type.
/// Conform a type that cannot be decoded from sample values, or that encodes a property in another form than the
/// property's own:
///
/// ```swift
/// extension Reading: StoredFieldNaming {
///     static var storedFieldNames: [PartialKeyPath<Reading>: String] { [\.celsius: "t", \.station: "s"] }
/// }
/// ```
///
/// No sample values of such a type are made: a query for a property that is not in the list is an error.
public protocol StoredFieldNaming {
    /// The key in the document for each property that is queried. It is not a path: a dot is part of the key.
    static var storedFieldNames: [PartialKeyPath<Self>: String] { get }
}

extension StoredFieldNaming {
    /// The name for a key path of any root; `nil` when the list has none.
    static func storedName(of keyPath: AnyKeyPath) -> String? {
        (keyPath as? PartialKeyPath<Self>).flatMap { storedFieldNames[$0] }
    }
}
