/// A type that declares the stored names of its properties, for queries by key path.
///
/// Most types need not conform: a stored property is found by its coding key. Name a property that is computed, wrapped
/// or observed, that has another name than its coding key's case, or that is stored in another form than its own:
///
/// ```swift
/// extension Reading: StoredFieldNaming {
///     static var storedFieldNames: [PartialKeyPath<Reading>: String] { [\.celsius: "t", \.station: "s"] }
/// }
/// ```
///
/// Properties that are not in the list are found as for any other type. A name in the list is believed: no stored value is
/// compared with it.
///
/// Generic code reads a property through a protocol, and cannot see where the type stores it. Let the protocol name it:
///
/// ```swift
/// protocol SoftDeletable: StoredFieldNaming { var deletedAt: Date? { get } }
/// extension SoftDeletable {
///     static var storedFieldNames: [PartialKeyPath<Self>: String] { [\.deletedAt: "deletedAt"] }
/// }
/// ```
public protocol StoredFieldNaming: AnyIsolation {
    /// The key in the document for each property that is queried. It is not a path: a dot is part of the key.
    /// A property `id` of a document is stored as `_id`.
    static var storedFieldNames: [PartialKeyPath<Self>: String] { get }
}
