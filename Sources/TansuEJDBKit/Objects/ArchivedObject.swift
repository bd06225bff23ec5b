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
