#if TansuSync
import Tansu
import TansuBSON

extension RevisionStore {
    /// How many documents get their revisions at a time.
    private static let followedBatch = 2000

    /// Whether every document has its revision.
    func isFollowed() throws -> Bool { try state.enabledUpTo == nil && changes.count() == 0 }

    /// Whether the engine notes what is changed in the collection without the layer. If not, it was dropped or renamed, and another
    /// one may have its name.
    func isTracked() throws -> Bool {
        try options()["changeTracking"]?.stringValue == StoreNames.changes(state.instance)
    }

    /// Gives a batch of documents that have none their revisions.
    ///
    /// - Returns: Whether all have theirs now.
    func followBatch() throws -> Bool {
        isSettled = try isFollowed()
        if isSettled { return true }
        // By the index: a scan of the collection passes what was removed from it and not compacted yet.
        let hints: BSONDocument = ["$orderby": ["_id": 1], "$max": BSONValue(Self.followedBatch)]
        let ids = try changes.find(hints: hints).all().compactMap { $0["_id"] }
        if !ids.isEmpty {
            try follow(ids)
            try remove(ids, changes)
        } else if let passed = state.enabledUpTo {
            try followFirst(after: passed)
        }
        isSettled = try isFollowed()
        return isSettled
    }

    /// Gives documents that were changed without the layer their revisions.
    func followChanges() throws {
        while try !isSettled && changes.count() > 0 { _ = try followBatch() }
    }

    /// Gives a batch of the documents that the collection had before it was replicated their first revisions: those with texts as ids,
    /// then those with ObjectIds.
    private func followFirst(after passed: BSONValue) throws {
        let hints: BSONDocument = [
            "$orderby": ["_id": 1], "$max": BSONValue(Self.followedBatch), "$fields": ["_id": 1],
        ]
        let ids = try documents.find(["_id": ["$gt": passed]], hints: hints).all().compactMap { $0["_id"] }
        try follow(ids, onlyNew: true)
        state.enabledUpTo = ids.last ?? (passed.stringValue == nil ? Optional.none : .objectID(.zero))
        isStateChanged = true
    }

    /// Gives documents that were changed without the layer their revisions. Those whose ids cannot be on the wire get none: the others
    /// are served, and ``ReplicatedCollection/rejectOtherIDs()`` tells the app.
    ///
    /// - Parameters:
    ///   - ids: Ids of documents in the collection, of which some may be gone.
    ///   - onlyNew: Whether documents that have a revision have not changed.
    private func follow(_ ids: [BSONValue], onlyNew: Bool = false) throws {
        var pairs = ids.compactMap { id in Self.wireID(of: id).map { (wire: $0, stored: id) } }
            .sorted { TermOrder.order($0.wire, $1.wire) == .before }
        if pairs.count < ids.count { sawOtherID = true }
        let found = try documents(pairs.map(\.wire))
        if onlyNew { pairs.removeAll { found[BytewiseText($0.wire)] != nil } }
        // An ObjectId and the text of its digits are one id on the wire: the document may have the other one by now.
        var storedIDs = pairs.map(\.stored)
        for (wire, id) in pairs {
            if let former = found[BytewiseText(wire)]?.storedID, former != id { storedIDs.append(former) }
        }
        let stored = try storedDocuments(ids: storedIDs, withFiles: storedIDs)
        var writes = PendingWrites()
        var last: String?
        for (wire, _) in pairs {
            if let last, TermOrder.order(last, wire) == .same { continue }
            last = wire
            let document = stored[BytewiseText(wire)]
            var record = found[BytewiseText(wire)] ?? DocumentRecord(id: wire, isObjectID: false)
            // Inserted and removed since.
            if document == nil, record.isDeleted { continue }
            if let id = document?.document["_id"] { record.isObjectID = id.objectIDValue != nil }
            try followChange(record, document, &writes)
        }
        try perform(writes)
    }

    /// Refuses documents that cannot be replicated.
    func validateDocuments() throws {
        var digits: [(text: String, id: ObjectID)] = []
        let cursor = try documents.find().makeCursor()
        defer { cursor.close() }
        while let document = try cursor.next() {
            let id = document["_id"] ?? .null
            let wireID = try Self.validWireID(of: id, in: name)
            try validate(document, wireID)
            // Texts of this form are rare.
            if case .string(let text) = id, let objectID = ObjectID(text) { digits.append((text, objectID)) }
        }
        for (text, id) in digits where text == Self.wireID(of: .objectID(id)) {
            if try documents.get(id) != nil { throw sameID(text) }
        }
    }

    /// The id on the wire.
    ///
    /// - Throws: ``SyncError`` when it has none.
    static func validWireID(of id: BSONValue, in name: String) throws -> String {
        guard let wireID = wireID(of: id) else {
            throw SyncError(
                .unusableID,
                "Collection \"\(name)\" has a document with the id \(id.extendedJSON(.relaxed)); "
                    + "ids of replicated documents are ObjectIds, or text that is not empty and does not begin with \"_\""
                    + (id.binaryValue?.uuid == nil
                        ? "" : "; UUIDs are stored as text with coding: .init(uuid: .string)"))
        }
        return wireID
    }

    /// The error for two documents that have one id on the wire.
    func sameID(_ id: String) -> SyncError {
        SyncError(
            .unusableID,
            "Collection \"\(name)\" has the document \"\(id)\" twice, as text and as an ObjectId, which are one id "
                + "on the wire; remove one of them")
    }
}

// MARK: - Unrecorded

// A collection that is not replicated is read as if it were, and nothing is stored: each document has the revision that it would get.
// It may have ids that no replicated collection has, which are their JSON text here.
extension RevisionStore {
    /// A store over a collection that is not replicated.
    convenience init(unrecorded transaction: Database.Transaction, _ name: String) throws {
        var state = StoreState()
        state.instance = "0"
        try self.init(transaction, name, state)
        isUnrecorded = true
        self.state.documents = Int64(try documents.count())
    }

    /// The record that a document would get.
    func newRecord(of stored: BSONDocument) throws -> DocumentRecord {
        let id = stored["_id"] ?? .null
        let name = try name(of: id)
        var record = DocumentRecord(id: name, isObjectID: id.objectIDValue != nil)
        if name != Self.wireID(of: id) { record.otherID = id }
        let files = try AttachmentFile.files(in: attachments.get(id))
        let revision = try RevisionDigest.revision(
            after: nil, body: stored.wireFields, attachments: files.map(\.digestPart))
        try record.tree.merge(RevisionPath(revision))
        record.updateWinner()
        record.hasFiles = !files.isEmpty
        return record
    }

    /// What a document is called: another name for each, so that a text which is the name of another id has spaces before it there.
    private func name(of id: BSONValue) throws -> String {
        if case .string(let text) = id { return text }
        if let text = Self.wireID(of: id), try documents.get(BSONValue.string(text)) == nil { return text }
        var name = id.extendedJSON(.relaxed)
        while try documents.get(BSONValue.string(name)) != nil { name = " " + name }
        return name
    }

    /// The stored document that is called so.
    func unrecorded(_ id: String) throws -> BSONDocument? {
        let text = BSONValue.string(id)
        if let found = try documents.get(text) { return found }
        if let objectID = text.stringValue.flatMap({ ObjectID($0) }) { return try documents.get(objectID) }
        guard let other = try? BSONValue(extendedJSON: id.utf8), Self.kind(other) != nil else { return nil }
        return try documents.get(other)
    }

    /// The kinds of ids in the order of the collection, each with its least one: a query compares ids of one kind, but for
    /// those of one id.
    private static let kinds: [BSONValue] = [
        .minKey, .null, .double(.nan), .double(-.infinity), "", .document([:]), .binary(BSONBinary([])),
        .objectID(.zero), false, .date(.min), .timestamp(BSONTimestamp(seconds: 0, increment: 0)),
        .dbPointer(BSONDBPointer(collection: "", id: .zero)), .code(""), .codeWithScope(BSONCode("", scope: [:])),
        .maxKey,
    ]

    private static let single: [BSONValue] = [.minKey, .null, .maxKey]

    /// The place of an id's kind; nil for what is no id.
    private static func kind(_ id: BSONValue) -> Int? {
        switch id {
        case .minKey: 0
        case .null: 1
        case .double(let number): number.isNaN ? 2 : 3
        case .decimal128(let number): number.isNaN ? 2 : 3
        case .int32, .int64: 3
        case .string, .symbol: 4
        case .document: 5
        case .binary: 6
        case .objectID: 7
        case .bool: 8
        case .date: 9
        case .timestamp: 10
        case .dbPointer: 11
        case .code: 12
        case .codeWithScope: 13
        case .maxKey: 14
        case .array, .undefined, .regularExpression: nil
        }
    }

    /// Refuses a document whose id cannot be on the wire.
    ///
    /// - Throws: ``SyncError`` that names it.
    func rejectOtherIDs() throws {
        var queries: [BSONDocument] = Self.kinds.filter { $0.objectIDValue == nil }.map { least in
            let isOnlyOne = Self.single.contains(least) || least == ""
            return ["_id": isOnlyOne ? ["$eq": least] : ["$gte": least]]
        }
        // Text that begins with "_".
        queries.append(["_id": ["$gte": "_", "$lt": "`"]])
        for query in queries {
            guard let found = try documents.find(query, hints: ["$max": 1]).all().first else { continue }
            _ = try Self.validWireID(of: found["_id"] ?? .null, in: name)
        }
    }

    /// Queries for the documents between two ids, which are included: one for each kind.
    private func unrecorded(from low: String?, to high: String?) throws -> [BSONDocument] {
        func bound(_ id: String?) throws -> (kind: Int, id: BSONValue)? {
            try id.map { id in
                let found = try unrecorded(id)?["_id"] ?? .string(id)
                return (Self.kind(found) ?? 0, found)
            }
        }
        let (low, high) = (try bound(low), try bound(high))
        return stride(from: low?.kind ?? 0, through: high?.kind ?? Self.kinds.count - 1, by: 1).map { kind in
            let least = Self.kinds[kind]
            if Self.single.contains(least) { return ["_id": least] }
            var bounds: BSONDocument = ["$gte": least]
            if let low, low.kind == kind { bounds["$gte"] = low.id }
            if let high, high.kind == kind { bounds["$lte"] = high.id }
            return ["_id": .document(bounds)]
        }
    }

    /// The documents between two ids, which are included.
    func unrecorded(from low: String?, to high: String?, isDescending: Bool) throws -> Records {
        let queries: [BSONDocument] = try unrecorded(from: low, to: high)
        let hints: BSONDocument = ["$orderby": ["_id": isDescending ? -1 : 1]]
        let cursors = try (isDescending ? queries.reversed() : queries).map {
            try documents.find($0, hints: hints).makeCursor()
        }
        return Records(cursors) { try self.newRecord(of: $0) }
    }

    /// How many documents are before an id, or after it.
    func unrecordedCount(before id: String, isDescending: Bool) throws -> Int {
        let queries: [BSONDocument] = try unrecorded(from: isDescending ? id : nil, to: isDescending ? nil : id)
        let count = try queries.reduce(0) { try $0 + documents.count($1) }
        return try unrecorded(id) == nil ? count : count - 1
    }
}

// MARK: - Local

/// What the collection has of a document.
struct StoredDocument {
    let document: BSONDocument
    var files: [AttachmentFile]
}

extension RevisionStore {
    /// What the collection has of some documents, by their ids on the wire.
    ///
    /// - Parameters:
    ///   - ids: Their ids in the collection.
    ///   - files: Those of documents that may have attachments.
    /// - Throws: ``SyncError`` when an ObjectId and the text of its digits are both there.
    func storedDocuments(
        ids: [BSONValue], withFiles fileIDs: [BSONValue]
    ) throws -> [BytewiseText: StoredDocument] {
        guard !ids.isEmpty else { return [:] }
        let found = try documents.get(ids: ids).map { (id: $0["_id"] ?? .null, document: $0) }
        if found.isEmpty { return [:] }
        var files: [BSONValue: [AttachmentFile]] = [:]
        for document in fileIDs.isEmpty ? [] : try attachments.get(ids: fileIDs) {
            if let id = document["_id"] { files[id] = try AttachmentFile.files(in: document) }
        }
        var stored: [BytewiseText: StoredDocument] = [:]
        stored.reserveCapacity(found.count)
        for (id, document) in found {
            guard let wireID = Self.wireID(of: id) else { continue }
            let new = StoredDocument(document: document, files: files[id] ?? [])
            let former = stored.updateValue(new, forKey: BytewiseText(wireID))
            if let former, former.document["_id"] != id { throw sameID(wireID) }
        }
        return stored
    }

    /// Gives the net change that was made to a document without the layer its revision.
    ///
    /// - Parameter document: What the collection has; attachments that were added get the revision's generation.
    private func followChange(
        _ record: DocumentRecord, _ document: StoredDocument?, _ writes: inout PendingWrites
    ) throws {
        var changed = record
        if var stored = document {
            try validate(stored.document, record.id)
            let parent = record.isStored ? record.winner : nil
            let revision = try RevisionDigest.revision(
                after: parent, body: stored.document.wireFields, attachments: stored.files.map(\.digestPart))
            if stored.files.contains(where: { $0.revpos <= 0 }) {
                for index in stored.files.indices where stored.files[index].revpos <= 0 {
                    stored.files[index].revpos = revision.generation
                }
                writes.files.append(AttachmentFile.document(of: stored.files, id: record.storedID))
            }
            // The collection has the body of the parent no more.
            if let parent, !record.isDeleted { changed.tree.forgetBody(of: parent) }
            try changed.tree.merge(path(revision, after: parent))
            changed.hasFiles = !stored.files.isEmpty
        } else {
            // Removing a document removes its conflicts: it must not come back as one of them.
            if !record.isDeleted { changed.tree.forgetBody(of: record.winner) }
            for leaf in changed.tree.leaves where !leaf.isDeleted {
                let revision = try RevisionDigest.revision(after: leaf.revision, isDeleted: true, body: [:])
                try changed.tree.merge(path(revision, after: leaf.revision), status: .deleted)
                if leaf.revision != record.winner { state.staleBodies += 1 }
            }
            changed.hasFiles = false
        }
        stem(&changed.tree, record.id, &writes)
        changed.updateWinner()
        try placeFollowed(&changed, former: record, &writes)
    }

    private func placeFollowed(
        _ record: inout DocumentRecord, former: DocumentRecord, _ writes: inout PendingWrites
    ) throws {
        state.sequence += 1
        record.sequence = state.sequence
        if former.isStored {
            if former.isDeleted { state.deletedDocuments -= 1 } else { state.documents -= 1 }
        }
        if record.isDeleted { state.deletedDocuments += 1 } else { state.documents += 1 }
        record.isStored = true
        isStateChanged = true
        writes.records.append(try record.document())
    }

    func path(_ revision: Revision, after parent: Revision?) throws -> RevisionPath {
        guard let parent else { return RevisionPath(revision) }
        return try RevisionPath(revision, parent: parent)
    }

    func validate(_ document: BSONDocument, _ id: String) throws {
        try Self.validate(document, id, in: name)
    }

    static func validate(_ document: BSONDocument, _ id: String, in name: String) throws {
        for (key, _) in document
        where key.utf8.first == UInt8(ascii: "_") && key != "_id" && !DocumentName.isReplicatorMember(key) {
            throw SyncError(
                .reservedField,
                "Document \"\(id)\" of collection \"\(name)\" has the field \"\(key)\"; "
                    + "a replicated document has no other field than \"_id\" that begins with \"_\"")
        }
    }
}

extension RevisionTree {
    /// Notes that the body of a revision is not stored any more; it must get a child.
    mutating func forgetBody(of revision: Revision) {
        if let index = index(of: revision) { setStatus(.missing, at: index) }
    }

    /// Whether stemming can remove something: quickly, and true in some cases where it does not.
    func mayExceed(_ limit: Int) -> Bool {
        guard let oldest = levels.first, let newest = levels.last else { return false }
        return newest.generation - oldest.generation >= max(1, limit) || !joins.isEmpty
    }

    /// How many of the newest revisions of a path, one after the other, have a sibling.
    func branchings(endingAt revision: Revision) -> Int {
        var count = 0
        var index = index(of: revision) ?? Self.none
        while index != Self.none {
            let parent = nodes[Int(index)].parent
            guard parent != Self.none, nodes[Int(parent)].childCount > 1 else { break }
            count += 1
            index = parent
        }
        return count
    }

    /// The revisions of which more than the name is known.
    var storedRevisions: [Revision] { nodes.filter(\.status.isStored).map(\.revision) }
}
#endif
