/// A document of a type that is not registered here, kept whole.
///
/// Saved again it is the same document, byte for byte: with the type's name, the `_id` and every field. It may be
/// changed as a document in between.
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
