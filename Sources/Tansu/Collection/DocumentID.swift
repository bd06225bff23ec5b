import Foundation

/// A value that can be the `_id` of a document:
/// `people.get(person.id)`, `people.get(7)`, `people.get("mike")`.
public protocol DocumentID: Sendable {
    /// The id as a document holds it.
    var bsonID: BSONValue { get }
}

extension BSONValue: DocumentID {
    /// The value itself.
    public var bsonID: BSONValue { self }
}

extension ObjectID: DocumentID {
    /// The id as a value.
    public var bsonID: BSONValue { BSONValue(self) }
}

extension Int: DocumentID {
    /// The number as a value.
    public var bsonID: BSONValue { BSONValue(self) }
}

extension String: DocumentID {
    /// The text as a value.
    public var bsonID: BSONValue { BSONValue(self) }
}

extension UUID: DocumentID {
    /// The UUID as a binary value of subtype 4, as the encoder writes it.
    public var bsonID: BSONValue { BSONValue(self) }
}
