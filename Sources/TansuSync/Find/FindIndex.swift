#if TansuSync
import Crypto
import Tansu
import TansuBSON

/// A JSON index as it is stored: a collection of its own with an entry for each document that the index has.
///
/// The entries follow the update sequence of the replicated collection when a query needs them. An entry is
/// `{_id: <its key>, d: <the id of the document>}`: reading the collection in the order of `_id` is reading the index.
/// Indexes with the same definition share the entries.
struct FindIndex {
    let index: Mango.Index
    /// Names the definition.
    let signature: String
    /// The collection of the entries.
    let entries: String

    /// - Parameters:
    ///   - index: An index of a design document.
    ///   - collection: The name of the replicated collection.
    init(_ index: Mango.Index, of collection: String) {
        self.index = index
        var definition: BSONDocument = [
            "version": 1, "columns": .array(BSONArray(index.columnNames.map { .string($0) })),
        ]
        if let filter = index.partialFilter { definition["filter"] = .document(filter.json) }
        let digest = SHA256.hash(data: definition.extendedJSONBytes(.canonical))
        signature = String(digest.prefix(FindIndexNames.signatureLength / 2).flatMap { Self.hex($0) })
        entries = FindIndexNames.entries(signature, of: collection)
    }

    private static func hex(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16)
        return digits.utf8.count == 1 ? "0" + digits : digits
    }

    /// How far an index has followed the documents.
    struct State {
        /// The update sequence up to which it has all changes, once it is built.
        var sequence: Int64
        /// Nil when it is built; otherwise the last id that the first pass over all documents has read.
        var passed: BSONValue?
    }

    /// How far it has followed; nil when nothing is stored.
    func state(_ transaction: Database.Transaction, _ collection: String) throws -> State? {
        let states = try transaction.collection(FindIndexNames.states)
        guard let document = try states.get(FindIndexNames.stateID(signature, of: collection)) else { return nil }
        return State(sequence: document["seq"]?.int64Value ?? 0, passed: document["passed"])
    }

    /// Whether it has all changes that the transaction sees or, with `orOld`, has had all at some time.
    func isCurrent(_ store: RevisionStore, orOld: Bool = false) throws -> Bool {
        guard let state = try state(store.transaction, store.name) else { return false }
        return state.passed == nil && (orOld || state.sequence == store.info().updateSequence)
    }

    func save(_ state: State, _ transaction: Database.Transaction, _ collection: String) throws {
        var document: BSONDocument = [
            "_id": FindIndexNames.stateID(signature, of: collection), "seq": .int64(state.sequence),
        ]
        if let passed = state.passed { document["passed"] = passed }
        try transaction.collection(FindIndexNames.states).save(document)
    }

    /// Whether the key of a document needs its revision or its attachments.
    var needsRevision: Bool {
        let names = index.columnNames + (index.partialFilter?.fieldNames ?? [])
        return names.contains { $0.utf8.first == UInt8(ascii: "_") && $0 != "_id" }
    }

    /// The entry of a document, or nil when the index does not have the document.
    func entry(of document: BSONDocument, id: String) throws(Mango.QueryError) -> BSONDocument? {
        guard let key = try index.key(of: document) else { return nil }
        return ["_id": .string(try FindKey(columns: key, id: id).text), "d": .string(id)]
    }
}

extension BSONDocument {
    /// The document with its id on the wire.
    func withID(_ id: String) -> BSONDocument {
        var document = self
        document["_id"] = .string(id)
        return document
    }
}

// MARK: - Updating

extension FindIndex {
    /// How many documents a write transaction reads.
    static let batchSize = 5000

    /// Below all ids that are text: no id is empty.
    private static var beforeTexts: BSONValue { "" }
    /// Below all ids that are ObjectIds: those have a time of creation.
    private static var beforeObjectIDs: BSONValue { .objectID(.zero) }

    /// Follows a batch of changes.
    ///
    /// The first pass reads all documents in the order of their ids, one batch in each transaction. Changes meanwhile are
    /// followed afterwards, because it began at an update sequence before them.
    ///
    /// - Returns: Whether the index has all changes now.
    func update(_ store: RevisionStore) throws -> Bool {
        let newest = store.info().updateSequence
        let saved = try state(store.transaction, store.name)
        // Entries without a state are of a former collection of the name.
        if saved == nil { try store.transaction.dropCollection(entries) }
        var state = saved ?? State(sequence: newest, passed: Self.beforeTexts)
        if state.passed != nil {
            try build(store, &state)
        } else {
            try follow(store, &state, newest)
        }
        try save(state, store.transaction, store.name)
        return state.passed == nil && state.sequence == newest
    }

    /// A batch of the first pass: text ids first, then ObjectIds, since a query compares values of one type.
    private func build(_ store: RevisionStore, _ state: inout State) throws {
        let entries = try store.transaction.collection(entries)
        let documents = try store.transaction.collection(store.name)
        var added: [BSONDocument] = []
        var count = 0
        let passed = state.passed ?? Self.beforeTexts
        let cursor = try documents.find(
            ["_id": ["$gt": passed]], hints: ["$orderby": ["_id": 1], "$max": BSONValue(Self.batchSize)]
        ).makeCursor()
        while let document = try cursor.next() {
            count += 1
            guard let stored = document["_id"] else { continue }
            state.passed = stored
            guard let id = RevisionStore.wireID(of: stored) else { continue }
            let whole =
                needsRevision
                ? try store.document(id).flatMap { try store.wholeDocument($0, includesConflicts: true) }
                : document.withID(id)
            if let whole, let entry = try entry(of: whole, id: id) { added.append(entry) }
        }
        try entries.save(added)
        guard count < Self.batchSize else { return }
        if case .string = passed {
            state.passed = Self.beforeObjectIDs
        } else {
            state.passed = nil
            try entries.ensureIndex("by_document", on: ["d": .ascending])
        }
    }

    /// A batch of changes since the last one.
    private func follow(_ store: RevisionStore, _ state: inout State, _ newest: Int64) throws {
        let entries = try store.transaction.collection(entries)
        var changed: [BSONValue] = []
        var added: [BSONDocument] = []
        let changes = try store.changes(after: state.sequence, limit: Self.batchSize)
        while let record = try changes.read() {
            state.sequence = record.sequence
            changed.append(.string(record.id))
            guard !record.isDeleted, let document = try store.wholeDocument(record, includesConflicts: true) else {
                continue
            }
            if let entry = try entry(of: document, id: record.id) { added.append(entry) }
        }
        if changed.count < Self.batchSize { state.sequence = newest }
        try entries.remove(["d": ["$in": .array(BSONArray(changed))]])
        try entries.save(added)
    }
}
#endif
