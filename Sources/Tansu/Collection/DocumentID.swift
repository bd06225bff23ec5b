import Foundation

/// A value that can be the `_id` of a document:
/// `people.get(person.id)`, `people.get(7)`, `people.get("mike")`.
///
/// A type that can be encoded needs nothing else to conform: its id is what it encodes to, as in a property `id`. The
/// calls of a collection of `Identifiable` values take ids of their type without a conformance.
public protocol DocumentID: Sendable {
    /// The id as a document holds it. Null, for a value that cannot be encoded, is no id: calls fail with `.invalidID`.
    var bsonID: BSONValue { get }
}

extension DocumentID where Self: Encodable {
    /// What the value encodes to.
    public var bsonID: BSONValue { (try? BSONEncoder().encodeValue(self)) ?? .null }
}

/// An id of a type that many collections have. A collection of `Identifiable` values with ids of another type rejects it
/// when the program is compiled.
public protocol CommonDocumentID: DocumentID {}

extension BSONValue: DocumentID {
    /// The value itself.
    public var bsonID: BSONValue { self }
}

extension ObjectID: CommonDocumentID {
    /// The id as a value.
    public var bsonID: BSONValue { BSONValue(self) }
}

extension Int: CommonDocumentID {
    /// The number as a value.
    public var bsonID: BSONValue { BSONValue(self) }
}

extension Int32: CommonDocumentID {
    /// The number as a value.
    public var bsonID: BSONValue { .int32(self) }
}

extension Int64: CommonDocumentID {
    /// The number as a value.
    public var bsonID: BSONValue { .int64(self) }
}

extension String: CommonDocumentID {
    /// The text as a value.
    public var bsonID: BSONValue { BSONValue(self) }
}

extension UUID: CommonDocumentID {
    /// The UUID as a binary value of subtype 4, as the encoder writes it.
    public var bsonID: BSONValue { BSONValue(self) }
}

extension BSONValue {
    /// What an id of any type is stored as.
    ///
    /// - Throws: ``TansuError`` with `.invalidID`.
    package init(id: some Encodable) throws {
        do {
            self = try BSONEncoder().encodeValue(id)
        } catch {
            throw TansuError(
                .invalidID, "The id cannot be stored: \(failureReason(of: error))", context: safeDescription(of: id))
        }
    }
}
