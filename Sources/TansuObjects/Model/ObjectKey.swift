public import Tansu

/// Which document: its collection and its `_id`.
public struct ObjectKey: Sendable, Hashable {
    /// The name of its collection.
    public let collection: String

    /// Its `_id`.
    public let id: BSONValue

    /// A document.
    ///
    /// - Parameters:
    ///   - collection: The name of its collection.
    ///   - id: Its `_id`.
    public init(collection: String, id: BSONValue) {
        self.collection = collection
        self.id = id
    }
}

extension ObjectKey: CustomStringConvertible {
    /// The collection and the id.
    public var description: String { "\(collection) \(id)" }
}
