public import Tansu

/// Which document: its collection and its `_id`.
///
/// Keys are equal when they are of one document: numbers by their value, `1` and `1.0`, and text by its bytes, unlike a
/// `String`.
public struct ObjectKey: Sendable {
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

    /// Whether a document of the collection has the id.
    func isKey(of document: BSONDocument) -> Bool {
        document["_id"].map { self == ObjectKey(collection: collection, id: $0) } ?? false
    }
}

extension ObjectKey: Hashable {
    /// Whether both are of one document.
    public static func == (a: Self, b: Self) -> Bool {
        guard a.collection.utf8.elementsEqual(b.collection.utf8) else { return false }
        if let first = a.id.int64Value { return first == b.id.int64Value }
        return a.id == b.id
    }

    /// Hashes what keys are equal by.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(collection)
        if let number = id.int64Value { hasher.combine(number) } else { hasher.combine(id) }
    }
}

extension ObjectKey: CustomStringConvertible {
    /// The collection and the id.
    public var description: String { "\(collection) \(id)" }
}
