/// A reference to a document by the name of its collection and its id, which BSON deprecates.
public struct BSONDBPointer: Sendable, Hashable {
    /// The name of the collection.
    public var collection: String
    /// The id of the document.
    public var id: ObjectID

    /// Creates a pointer.
    public init(collection: String, id: ObjectID) {
        self.collection = collection
        self.id = id
    }
}
