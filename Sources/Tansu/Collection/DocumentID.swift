import Foundation

/// A value that can be the `_id` of a document:
/// `people.get(person.id)`, `people.get(7)`, `people.get("mike")`.
///
/// A type that can be encoded needs nothing else to conform: its id is what it encodes to, as in a property `id`. The
/// calls of a collection of `Identifiable` values take ids of their type without a conformance.
public protocol DocumentID: Sendable {
    /// The id as a document holds it. Undefined, for a value that cannot be encoded or is nil, is no id: calls fail with
    /// `.invalidID`.
    var bsonID: BSONValue { get }
}

extension DocumentID where Self: Encodable {
    /// What the value encodes to.
    public var bsonID: BSONValue {
        guard let id = try? BSONEncoder().encodeValue(self), !id.isNull else { return .undefined }
        return id
    }
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

extension BSONCodingStrategies {
    /// An id of any type as documents hold it, with these strategies.
    ///
    /// - Throws: ``TansuError`` with `.invalidID`.
    package func storedID(_ id: some Encodable) throws -> BSONValue {
        do {
            var encoder = BSONEncoder()
            encoder.strategies = self
            return try encoder.encodeValue(id)
        } catch {
            throw TansuError(
                .invalidID, "The id cannot be stored: \(failureReason(of: error))", context: safeDescription(of: id))
        }
    }
}

extension Database.Collection {
    /// An id as documents of this collection hold it.
    package func stored(_ id: some DocumentID) -> BSONValue {
        let id = id.bsonID
        let stored = codec.strategies.stored(id)
        // A strategy of the user's own may store another date, and the id may be that already.
        return id.dateValue != nil && stored.dateValue != nil ? id : stored
    }

    /// An id of the values' own type as documents of this collection hold it.
    ///
    /// - Throws: ``TansuError`` with `.invalidID`.
    package func storedID(_ id: some Encodable) throws -> BSONValue {
        try codec.checkStoresID()
        let stored = try codec.strategies.storedID(id)
        guard !stored.isNull else {
            throw TansuError(
                .invalidID,
                "The id is nil; pass the id of a value that was saved, or a BSONValue for an id that is null",
                context: "_id")
        }
        return stored
    }
}

// MARK: - BSONDocument: ID

extension BSONDocument {
    /// The document with the `_id` as its first field; it must have none yet.
    package func withID(_ id: BSONValue) -> BSONDocument {
        let head = BSONDocument(key: "_id", value: id)
        // A length of four bytes, then the fields, then a zero byte.
        let count = head.bytes.count + bytes.count - 5
        var result: [UInt8] = []
        result.reserveCapacity(count)
        for shift in stride(from: 0, to: 32, by: 8) {
            result.append(UInt8(truncatingIfNeeded: count >> shift))
        }
        result += head.bytes[4..<(head.bytes.count - 1)]
        result += bytes[4...]
        return BSONDocument(trustedBytes: result)
    }
}
