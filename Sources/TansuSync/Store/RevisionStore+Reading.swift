#if TansuSync
import Foundation
import Tansu
import TansuBSON

extension RevisionStore {
    /// What is known of a document; nil when there never was one.
    package func document(_ id: String) throws -> DocumentRecord? {
        if isUnrecorded { return try unrecorded(id).map { try newRecord(of: $0) } }
        return try records.get(id).map { try DocumentRecord($0) }
    }

    /// What is known of several documents, by their ids.
    package func documents(_ ids: some Collection<String>) throws -> [BytewiseText: DocumentRecord] {
        var found: [BytewiseText: DocumentRecord] = [:]
        if isUnrecorded {
            for id in ids { found[BytewiseText(id)] = try document(id) }
            return found
        }
        let documents = try records.get(ids: ids)
        found.reserveCapacity(documents.count)
        for document in documents {
            let record = try DocumentRecord(document)
            found[BytewiseText(record.id)] = record
        }
        return found
    }

    /// The body of a revision; nil when it is not stored, or not any more.
    package func body(of record: DocumentRecord, _ revision: Revision) throws -> RevisionBody? {
        guard let status = record.tree.status(of: revision), status != .missing else { return nil }
        let isDeleted = status == .deleted
        if revision == record.winner, !isDeleted, !record.isDesignDocument {
            guard let stored = try documents.get(record.storedID) else { return nil }
            let files = record.hasFiles ? try AttachmentFile.files(in: attachments.get(record.storedID)) : []
            return RevisionBody(revision: revision, isDeleted: false, fields: stored.wireFields, files: files)
        }
        if let stored = try bodies.get(Self.bodyID(record.id, revision)) {
            return RevisionBody(
                revision: revision, isDeleted: isDeleted, fields: try BSONDocument(storedBody: stored["body"]),
                files: try AttachmentFile.files(in: stored))
        }
        return isDeleted ? RevisionBody(revision: revision, isDeleted: true, fields: [:], files: []) : nil
    }

    static func bodyID(_ id: String, _ revision: Revision) -> BSONValue {
        ["id": .string(id), "rev": .string(revision.description)]
    }

    /// The documents that changed after an update sequence, each once, in the order of the sequences.
    ///
    /// - Parameters:
    ///   - sequence: The sequence after which they begin; with `isDescending` the newest is first, down to it.
    ///   - limit: The greatest number of records; all when nil.
    package func changes(
        after sequence: Int64, isDescending: Bool = false, limit: Int? = nil
    ) throws -> Records {
        var hints: BSONDocument = ["$orderby": ["seq": isDescending ? -1 : 1]]
        if let limit { hints["$max"] = BSONValue(limit) }
        return Records([try records.find(["seq": ["$gt": .int64(sequence)]], hints: hints).makeCursor()])
    }

    /// How many documents changed after an update sequence.
    package func changeCount(after sequence: Int64) throws -> Int {
        try records.count(["seq": ["$gt": .int64(sequence)]])
    }

    /// The ids of documents with conflicts, as the collection has them.
    func conflicted() throws -> [BSONValue] {
        try records.find(["conflicts": ["$gt": 0]], hints: ["$orderby": ["seq": 1]]).all().map {
            try DocumentRecord($0).storedID
        }
    }

    /// The documents that are not deleted, in the order of the bytes of their ids.
    ///
    /// - Parameters:
    ///   - low: The lowest id; all when nil.
    ///   - high: The highest id; all when nil.
    ///   - isDescending: Whether the highest is first.
    ///   - includesDeleted: Whether deleted documents are there as well.
    package func documents(
        from low: String? = nil, to high: String? = nil, isDescending: Bool = false, includesDeleted: Bool = false
    ) throws -> Records {
        if isUnrecorded { return try unrecorded(from: low, to: high, isDescending: isDescending) }
        var bounds = BSONDocument()
        if let low { bounds["$gte"] = .string(low) }
        if let high { bounds["$lte"] = .string(high) }
        var query = BSONDocument()
        if !bounds.isEmpty { query["_id"] = .document(bounds) }
        if !includesDeleted { query["deleted"] = false }
        return Records(
            [try records.find(query, hints: ["$orderby": ["_id": isDescending ? -1 : 1]]).makeCursor()])
    }

    /// The live documents of the collection with text ids, as it has them, in the order of the bytes of their ids.
    func storedDocuments(
        from low: String?, to high: String?, isDescending: Bool
    ) throws -> Database.Cursor<BSONDocument> {
        var bounds: BSONDocument = ["$gte": .string(low ?? "")]
        if let high { bounds["$lte"] = .string(high) }
        return try documents.find(
            ["_id": .document(bounds)], hints: ["$orderby": ["_id": isDescending ? -1 : 1]]
        ).makeCursor()
    }

    /// Whether some documents of the collection have ObjectIds.
    func hasObjectIDs() throws -> Bool {
        try !documents.find(["_id": ["$gte": .objectID(.zero)]], hints: ["$max": 1]).all().isEmpty
    }

    /// The design documents that are not deleted, in the order of their ids.
    func designDocuments() throws -> [DocumentRecord] {
        let records = try documents(from: "_design/", to: "_design0")
        defer { records.close() }
        var designs: [DocumentRecord] = []
        while let record = try records.read() {
            if record.isDesignDocument { designs.append(record) }
        }
        return designs
    }

    /// Records that are read one after the other.
    package struct Records: Sequence, IteratorProtocol {
        private let cursors: [Database.Cursor<BSONDocument>]
        private let decode: (BSONDocument) throws -> DocumentRecord

        init(
            _ cursors: [Database.Cursor<BSONDocument>],
            _ decode: @escaping (BSONDocument) throws -> DocumentRecord = { try DocumentRecord($0) }
        ) {
            self.cursors = cursors
            self.decode = decode
        }

        /// The next record; nil after the last.
        package func read() throws -> DocumentRecord? {
            for cursor in cursors {
                if let found = try cursor.next() { return try decode(found) }
            }
            return nil
        }

        /// The next record or error.
        package mutating func next() -> Result<DocumentRecord, any Error>? {
            do { return try read().map { .success($0) } } catch { return .failure(error) }
        }

        /// Ends it early.
        package func close() { for cursor in cursors { cursor.close() } }
    }

    /// What a replicator asks for: the revisions that the document does not have, and leaves from which they may descend.
    package func missingRevisions(
        _ id: String, _ revisions: [Revision], possibleAncestors limit: Int
    ) throws -> (missing: [Revision], possibleAncestors: [Revision]) {
        guard let record = try document(id) else {
            return (RevisionTree().missing(of: revisions), [])
        }
        let missing = record.tree.missing(of: revisions)
        return (missing, record.tree.possibleAncestors(of: missing, limit: limit))
    }

    /// The document as Mango sees it: with `_id`, `_rev` and `_attachments`; nil when it is deleted.
    ///
    /// - Parameter includesConflicts: Whether with `_conflicts`, if it has some.
    package func wholeDocument(
        _ record: DocumentRecord, includesConflicts: Bool = false
    ) throws -> BSONDocument? {
        guard !record.isDeleted, let body = try body(of: record, record.winner) else { return nil }
        var document = BSONDocument(
            joining: ["_id": .string(record.id), "_rev": .string(record.winner.description)], body.fields)
        if !body.files.isEmpty {
            document["_attachments"] = .document(
                BSONDocument(body.files.map { ($0.name, .document($0.stub)) }))
        }
        let conflicts = includesConflicts ? record.tree.conflicts : []
        if !conflicts.isEmpty {
            document["_conflicts"] = .array(BSONArray(conflicts.map { .string($0.description) }))
        }
        return document
    }
}

extension AttachmentFile {
    /// What a document says of it when its bytes are not included.
    package var stub: BSONDocument {
        [
            "content_type": .string(contentType), "revpos": BSONValue(revpos), "digest": .string(digest),
            "length": .int64(length), "stub": true,
        ]
    }
}

extension BSONDocument {
    /// What a client sees of a document of the collection: the fields but `_id`.
    var wireFields: BSONDocument {
        var fields = self
        fields.removeValue(forKey: "_id")
        return fields
    }

    /// The fields as one value, so that every key and depth that the wire allows can be stored.
    var asStoredBody: BSONValue { .binary(BSONBinary(bytes)) }

    /// Reads ``asStoredBody``; no value is an empty document.
    init(storedBody value: BSONValue?) throws {
        guard let value else {
            self.init()
            return
        }
        guard case .binary(let binary) = value else {
            throw SyncError(.corrupt, "The stored body of a revision is no binary value")
        }
        try self.init(bytes: binary.bytes)
    }
}

// MARK: - Dates

/// The dates of documents in a collection with timestamps. The engine dates what the app saves. The layer stores documents as copies, so
/// that a replica keeps the dates of the others, and dates what clients edit itself: their revision has the dates.
extension RevisionStore {
    private func timestamps() throws -> Database.Timestamps? {
        try options()["timestamps"]?.documentValue.map { fields in
            Database.Timestamps(created: fields["created"]?.stringValue, updated: fields["updated"]?.stringValue)
        }
    }

    /// The fields of an edit with dates, by the rules of the engine.
    ///
    /// - Parameter former: The fields of the document that is replaced; nil when one is inserted.
    func dated(_ fields: BSONDocument, replacing former: () throws -> BSONDocument?) throws -> BSONDocument {
        guard let timestamps = try timestamps() else { return fields }
        var fields = fields
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        if let created = timestamps.created {
            if let former = try former() {
                if let value = former[created] { fields[created] = value }
            } else {
                fields[created] = .date(now)
            }
        }
        if let updated = timestamps.updated {
            let inserted = timestamps.created.flatMap { fields.date($0) }
            fields[updated] = .date(max(now, inserted ?? now))
        }
        return fields
    }

    /// The fields of a merge with the dates of both sides where it has none: the earlier date of the insertion, the later one of the
    /// last save. So the merge is the same document on every replica.
    func dated(_ fields: BSONDocument, merging sides: [BSONDocument]) throws -> BSONDocument {
        guard let timestamps = try timestamps() else { return fields }
        var fields = fields
        if let created = timestamps.created, !fields.contains(key: created),
            let date = sides.compactMap({ $0.date(created) }).min()
        {
            fields[created] = .date(date)
        }
        if let updated = timestamps.updated, !fields.contains(key: updated),
            let date = sides.compactMap({ $0.date(updated) }).max()
        {
            fields[updated] = .date(date)
        }
        return fields
    }
}

extension BSONDocument {
    fileprivate func date(_ field: String) -> Int64? {
        if case .date(let milliseconds)? = self[field] { return milliseconds }
        return nil
    }
}

// MARK: - Listing

extension RevisionStore {
    /// The documents whose last change is before an update sequence, the newest first.
    ///
    /// - Parameter limit: The greatest number of records.
    package func changes(before sequence: Int64, limit: Int) throws -> Records {
        let hints: BSONDocument = ["$orderby": ["seq": -1], "$max": BSONValue(limit)]
        return Records([try records.find(["seq": ["$lt": .int64(sequence)]], hints: hints).makeCursor()])
    }

    /// How many documents that are not deleted have ids before an id, or after it.
    package func documentCount(before id: String, isDescending: Bool) throws -> Int {
        if isUnrecorded { return try unrecordedCount(before: id, isDescending: isDescending) }
        let filter: BSONDocument = ["_id": [isDescending ? "$gt" : "$lt": .string(id)]]
        return try records.count(BSONDocument(joining: filter, ["deleted": false]))
    }
}

// MARK: - Local documents

/// A document that is not replicated, such as a replicator's checkpoint: CouchDB's `_local/…`.
package struct LocalDocument: Sendable {
    /// The id with `_local/`.
    package let id: String
    /// The number of its revision `0-…`.
    package let revision: Int64
    package let fields: BSONDocument
}

extension RevisionStore {
    private func localDocuments() throws -> Database.Collection<BSONDocument> {
        try transaction.collection(StoreNames.local(name))
    }

    /// A document that is not replicated; nil when there is none.
    package func local(_ id: String) throws -> LocalDocument? {
        try localDocuments().get(id).map { try LocalDocument($0) }
    }

    /// Saves a document that is not replicated. As in CouchDB there are no conflicts.
    ///
    /// - Parameter former: The number of the revision that the client has, if it names one.
    /// - Returns: The number of the new revision.
    @discardableResult
    package func saveLocal(_ id: String, former: Int64?, _ fields: BSONDocument) throws -> Int64 {
        let (next, overflows) = (former ?? 0).addingReportingOverflow(1)
        let revision = overflows ? .max : next
        try localDocuments().save([
            "_id": .string(id), "rev": .int64(revision), "body": fields.asStoredBody,
        ])
        return revision
    }

    /// Removes a document that is not replicated.
    ///
    /// - Returns: Whether there was one.
    package func removeLocal(_ id: String) throws -> Bool { try localDocuments().remove(id: id) }

    /// The documents that are not replicated, in the order of the bytes of their ids.
    ///
    /// - Parameters:
    ///   - low: The lowest id; all when nil.
    ///   - high: The highest id; all when nil.
    ///   - isDescending: Whether the highest is first.
    package func locals(from low: String? = nil, to high: String? = nil, isDescending: Bool = false) throws
        -> [LocalDocument]
    {
        var bounds = BSONDocument()
        if let low { bounds["$gte"] = .string(low) }
        if let high { bounds["$lte"] = .string(high) }
        return try localDocuments().find(
            bounds.isEmpty ? [:] : ["_id": .document(bounds)], hints: ["$orderby": ["_id": isDescending ? -1 : 1]]
        ).all().map { try LocalDocument($0) }
    }
}

extension LocalDocument {
    fileprivate init(_ document: BSONDocument) throws {
        guard let id = document["_id"]?.stringValue, let revision = document["rev"]?.int64Value else {
            throw SyncError(.corrupt, "A document that is not replicated lacks fields: \(document)")
        }
        self.init(id: id, revision: revision, fields: try BSONDocument(storedBody: document["body"]))
    }
}
#endif
