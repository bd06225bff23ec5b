/// A type that says itself how it becomes a document and comes back.
///
/// For types that `Codable` does not fit: class hierarchies, objects that choose what they store, collections that
/// hold several types. The document is stored with the type's name, by which a ``BSONTypeRegistry`` finds the type
/// again.
///
/// For example:
///
/// ```swift
/// struct Pet: BSONArchiving {
///     var id: ObjectID?
///     var name: String
///
///     func toDocument() -> BSONDocument {
///         ["id": id.map { BSONValue($0) } ?? .null, "name": .string(name)]
///     }
///
///     init(document: BSONDocument) throws {
///         id = document["id"]?.objectIDValue
///         name = document["name"]?.stringValue ?? ""
///     }
/// }
/// ```
public protocol BSONArchiving: Sendable {
    /// The name that is stored with the type's documents: the type's own unless you say otherwise.
    ///
    /// It must stay the same for as long as there are documents with it.
    static var archivedTypeName: String { get }

    /// What the type calls its `_id`: `id` unless you say otherwise.
    ///
    /// `toDocument()` may give the id under this name or as `_id`, and `init(document:)` finds it under this name.
    static var oidPropertyName: String { get }

    /// The object as a document.
    ///
    /// Its id, when it has one, is an `ObjectID` or its 24 hexadecimal digits; with any other the object
    /// is not saved. Without one, or with null, it gets a new one. The type's name need not be in it.
    func toDocument() throws -> BSONDocument

    /// The object of a document, which holds the id under ``oidPropertyName`` and no type name.
    init(document: BSONDocument) throws
}

extension BSONArchiving {
    /// The type's own name, without that of its module.
    public static var archivedTypeName: String { String(describing: Self.self) }

    /// `id`.
    public static var oidPropertyName: String { "id" }
}

/// A class whose objects take over what a document says, when they are made and at any later time.
///
/// It needs no `init(document:)`: an object is made by `init()` and told by `update(from:)`.
public protocol BSONUpdating: AnyObject, BSONArchiving {
    /// A new object that knows nothing yet.
    init()

    /// Takes over what a document says; it holds the id under ``BSONArchiving/oidPropertyName``.
    func update(from document: BSONDocument) throws
}

extension BSONUpdating {
    /// A new object that was told what the document says.
    public init(document: BSONDocument) throws {
        self.init()
        try update(from: document)
    }
}
