public import Tansu

/// A document of a type that is not registered, unchanged.
///
/// Saved again it is the same document, byte for byte: with the type name, the `_id` and every field. Its document may
/// be changed in between.
public struct ArchivedObject: BSONArchiving, Hashable {
    /// The name of the type that it is of; `nil` for a document that was stored without one.
    public let typeName: String?

    /// The whole document as it is stored, with `_id` and the type's name.
    public var document: BSONDocument

    init(typeName: String?, document: BSONDocument) {
        self.typeName = typeName
        self.document = document
    }

    /// An object of no type.
    public init(document: BSONDocument) {
        self.init(typeName: nil, document: document)
    }

    /// `_id`: this object gives documents as they are.
    public static var oidPropertyName: String { "_id" }

    /// The whole document.
    public func toDocument() -> BSONDocument { document }
}

/// A type that converts itself to a document and back.
///
/// For types that `Codable` does not suit: class hierarchies, objects that choose what they store, collections of
/// several types. The document is stored with the type name, by which a ``BSONTypeRegistry`` finds the type.
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
    /// The name that is stored with the type's documents: by default the name of the type.
    ///
    /// It must not change while there are documents with it.
    static var archivedTypeName: String { get }

    /// The name of the property for `_id`: by default `id`.
    ///
    /// `toDocument()` may return the id under this name or as `_id`; `init(document:)` gets it under this name.
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

/// A class whose objects are updated from documents, when they are made and later.
///
/// It needs no `init(document:)`: an object is made by `init()` and filled by `update(from:)`.
public protocol BSONUpdating: AnyObject, BSONArchiving {
    /// A new, empty object.
    init()

    /// Takes over the fields of a document, which holds the id under ``BSONArchiving/oidPropertyName``.
    func update(from document: BSONDocument) throws
}

extension BSONUpdating {
    /// A new object with the fields of the document.
    public init(document: BSONDocument) throws {
        self.init()
        try update(from: document)
    }
}
