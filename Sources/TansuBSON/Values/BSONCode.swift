/// JavaScript code, with or without the variables that it closes over.
public struct BSONCode: Sendable, Hashable {
    /// The code.
    public var code: String
    /// The variables, when the value has a scope.
    public var scope: BSONDocument?

    /// Creates a code value.
    public init(_ code: String, scope: BSONDocument? = nil) {
        self.code = code
        self.scope = scope
    }
}

/// A deprecated pointer to a document: the name of a collection and an id.
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

/// A deprecated symbol: a string of another type.
public struct BSONSymbol: Sendable, Hashable {
    /// The text.
    public var text: String

    /// Creates a symbol.
    public init(_ text: String) { self.text = text }
}
