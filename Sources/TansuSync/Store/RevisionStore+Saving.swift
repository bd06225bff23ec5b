#if TansuSync
import Tansu
import TansuBSON

extension RevisionStore {
    /// Makes edits of clients: each on a leaf, or it is a conflict.
    ///
    /// The documents get their update sequences in the order of the bytes of their ids, as in CouchDB.
    ///
    /// - Returns: One result for each edit, in their order.
    package func save(_ edits: [DocumentEdit]) throws -> [Result<Revision, DocumentError>] {
        let order = order(edits.map(\.id))
        var open = try openDocuments(order.map { edits[$0].id })
        var revisions = [Result<Revision, DocumentError>](repeating: .failure(.conflict), count: edits.count)
        // The documents have the order of the edits.
        var position = 0
        for index in order {
            while !Self.isSame(open[position].record.id, edits[index].id) { position += 1 }
            do throws(EditFailure) {
                revisions[index] = .success(try apply(edits[index], &open[position]))
            } catch {
                switch error {
                case .document(let error): revisions[index] = .failure(error)
                case .other(let error): throw error
                }
            }
        }
        let refused = try close(open)
        if !refused.isEmpty {
            for (index, edit) in edits.enumerated() {
                if let error = refused[BytewiseText(edit.id)] { revisions[index] = .failure(error) }
            }
        }
        return revisions
    }

    /// Takes over revisions of another replica.
    ///
    /// - Returns: One error, or nil, for each revision, in their order.
    package func push(_ pushed: [PushedRevision]) throws -> [DocumentError?] {
        let order = order(pushed.map(\.id))
        var open = try openDocuments(order.map { pushed[$0].id })
        var errors = [DocumentError?](repeating: nil, count: pushed.count)
        var position = 0
        for index in order {
            while !Self.isSame(open[position].record.id, pushed[index].id) { position += 1 }
            do throws(EditFailure) {
                try apply(pushed[index], &open[position])
            } catch {
                switch error {
                case .document(let error): errors[index] = error
                case .other(let error): throw error
                }
            }
        }
        let refused = try close(open)
        if !refused.isEmpty {
            for (index, revision) in pushed.enumerated() {
                errors[index] = errors[index] ?? refused[BytewiseText(revision.id)]
            }
        }
        if let resolver {
            let conflicted = open.filter { $0.isChanged && $0.record.tree.leafCount > 1 }
            try resolvePushedConflicts(of: conflicted.map(\.record.id), resolver)
        }
        return errors
    }

    /// The positions in the order of the ids' bytes; equal ids stay in their order.
    private func order(_ ids: [String]) -> [Int] {
        ids.indices.sorted { a, b in
            let order = TermOrder.order(ids[a], ids[b])
            return order == .same ? a < b : order == .before
        }
    }

    private static func isSame(_ a: String, _ b: String) -> Bool { TermOrder.order(a, b) == .same }

    // MARK: Documents of a batch

    /// A document with the edits of a batch so far.
    struct OpenDocument {
        var record: DocumentRecord
        /// As it was before the batch.
        var former: DocumentRecord
        var stored: StoredDocument?
        var new: [Revision: NewBody] = [:]
        var isChanged = false

        init(id: String) {
            record = DocumentRecord(id: id, isObjectID: false)
            former = record
        }
    }

    /// Why an edit is not made.
    enum EditFailure: Error {
        case document(DocumentError)
        /// The whole transaction fails.
        case other(any Error)

        init(_ error: any Error) {
            self = DocumentError(about: error).map { .document($0) } ?? .other(error)
        }
    }

    /// Reads the documents of a batch, and first gives local changes their revisions.
    ///
    /// - Parameter ids: In the order of their bytes; equal ones follow each other.
    /// - Returns: One document for each id, in their order.
    func openDocuments(_ ids: [String]) throws -> [OpenDocument] {
        try followChanges()
        var distinct: [String] = []
        distinct.reserveCapacity(ids.count)
        for id in ids {
            if let last = distinct.last, Self.isSame(last, id) { continue }
            distinct.append(id)
        }
        let found = try documents(distinct)
        // Every document has a record by now.
        let live = found.values.filter { !$0.isDeleted && !$0.isDesignDocument }
        let stored = try storedDocuments(
            ids: live.map(\.storedID), withFiles: live.filter(\.hasFiles).map(\.storedID))
        return distinct.map { id in
            var document = OpenDocument(id: id)
            document.stored = stored[BytewiseText(id)]
            if let record = found[BytewiseText(id)] { document.record = record }
            document.former = document.record
            return document
        }
    }

    /// Stores what the batch made.
    ///
    /// - Parameter open: In the order of the ids' bytes.
    /// - Returns: The documents that cannot be stored: nothing of them is.
    func close(_ open: [OpenDocument]) throws -> [BytewiseText: DocumentError] {
        let changed = open.filter(\.isChanged)
        let former = state
        do {
            try transaction.savepoint { try place(changed) }
            return [:]
        } catch {
            guard let refusal = DocumentError(about: error) else { throw error }
            state = former
            if changed.count == 1 { return [BytewiseText(changed[0].record.id): refusal] }
        }
        // One at a time, to find those that cannot be stored.
        var errors: [BytewiseText: DocumentError] = [:]
        for document in changed {
            let former = state
            do {
                try transaction.savepoint { try place([document]) }
            } catch {
                guard let refusal = DocumentError(about: error) else { throw error }
                state = former
                errors[BytewiseText(document.record.id)] = refusal
            }
        }
        return errors
    }

    private func place(_ documents: [OpenDocument]) throws {
        var writes = PendingWrites()
        for var document in documents {
            stem(&document.record.tree, document.record.id, &writes)
            try place(
                &document.record, former: document.former, stored: document.stored, new: document.new, &writes)
        }
        try perform(writes)
    }

    // MARK: One edit

    private func apply(_ edit: DocumentEdit, _ document: inout OpenDocument) throws(EditFailure) -> Revision {
        let parent = try parent(of: edit, document.record)
        let files = try files(
            of: edit.attachments, parent, document, generation: (parent?.generation ?? 0) + 1, isPushed: false)
        do {
            var fields = edit.fields
            if edit.isDated, !edit.isDeleted, !document.record.isDesignDocument {
                fields = try dated(fields) { try parent.flatMap { try document.fields(of: $0, self) } }
            }
            if !edit.isDeleted {
                try validate(fields, document.record) { try parent.flatMap { try document.fields(of: $0, self) } }
            }
            let revision = try RevisionDigest.revision(
                after: parent, isDeleted: edit.isDeleted, body: fields, attachments: files.map(\.digestPart))
            try document.record.tree.merge(
                path(revision, after: parent), status: edit.isDeleted ? .deleted : .available)
            document.add(revision, NewBody(isDeleted: edit.isDeleted, fields: fields, files: files))
            return revision
        } catch {
            throw EditFailure(error)
        }
    }

    /// Throws when a new body violates the validator of the collection. The engine validates those of winners only, and
    /// another one may become the winner's later.
    private func validate(
        _ fields: BSONDocument, _ record: DocumentRecord, replacing former: () throws -> BSONDocument?
    ) throws {
        if record.isDesignDocument { return }
        let validator = try knownValidator ?? DocumentValidator(options: options())
        knownValidator = .some(validator)
        func stored(_ fields: BSONDocument) -> BSONDocument {
            BSONDocument(joining: ["_id": record.storedID], fields)
        }
        try validator?.validate(stored(fields), of: name) {
            guard let fields = try former() else { return nil }
            return stored(fields)
        }
    }

    /// The revision that an edit is based on.
    private func parent(of edit: DocumentEdit, _ record: DocumentRecord) throws(EditFailure) -> Revision? {
        guard let winner = record.tree.winner else {
            if edit.parent == nil || edit.allowsUnknownParent { return edit.parent }
            throw .document(.conflict)
        }
        if let parent = edit.parent {
            // A deleted document continues by an edit without a parent only.
            guard !winner.isDeleted, record.tree.isLeaf(parent) else { throw .document(.conflict) }
            return parent
        }
        // A deleted document continues after its tombstone.
        guard winner.isDeleted, !edit.isDeleted else { throw .document(.conflict) }
        return winner.revision
    }

    private func apply(_ pushed: PushedRevision, _ document: inout OpenDocument) throws(EditFailure) {
        let revision = pushed.path.revision
        let status = document.record.tree.status(of: revision)
        let parent = pushed.path.revisions.dropFirst().first {
            document.record.tree.status(of: $0)?.isStored == true
        }
        let isNew = status == nil || status == .missing
        var files: [AttachmentFile] = []
        if isNew {
            files = try self.files(
                of: pushed.attachments, parent, document, generation: revision.generation, isPushed: true)
        }
        do {
            if isNew, !pushed.isDeleted {
                try validate(pushed.fields, document.record) {
                    try parent.flatMap { try document.fields(of: $0, self) }
                }
            }
            let result = try document.record.tree.merge(
                pushed.path, status: pushed.isDeleted ? .deleted : .available)
            if result == .nothingNew { return }
            if isNew {
                document.add(revision, NewBody(isDeleted: pushed.isDeleted, fields: pushed.fields, files: files))
            } else {
                document.isChanged = true
                document.record.updateWinner()
            }
        } catch {
            throw EditFailure(error)
        }
    }

    /// The attachments of a revision; stubs are those of the revision that it is based on.
    private func files(
        of attachments: [EditedAttachment], _ parent: Revision?, _ document: OpenDocument, generation: Int,
        isPushed: Bool
    ) throws(EditFailure) -> [AttachmentFile] {
        var formerFiles: [AttachmentFile]?
        var files: [AttachmentFile] = []
        for attachment in attachments {
            switch attachment {
            case .file(var file):
                // Of an edit the bytes are new. What a replica pushes has its revpos; 0 is what CouchDB says of one without.
                if !isPushed || file.revpos <= 0 { file.revpos = generation }
                files.append(file)
            case .stub(let name, let digest, let revpos):
                if formerFiles == nil {
                    do { formerFiles = try parent.map { try document.files(of: $0, self) } ?? [] } catch {
                        throw .other(error)
                    }
                }
                guard let file = formerFiles?.first(where: { $0.name == name }),
                    digest == nil || digest == file.digest,
                    revpos == nil || revpos == file.revpos || (isPushed && revpos == 0)
                else { throw .document(.missingStub(name: name)) }
                files.append(file)
            }
        }
        return files
    }
}

extension RevisionStore.OpenDocument {
    /// Notes a new revision.
    fileprivate mutating func add(_ revision: Revision, _ body: NewBody) {
        new[revision] = body
        isChanged = true
        record.updateWinner()
    }

    /// The fields of a revision that the document has; nil when that is a tombstone.
    fileprivate func fields(of revision: Revision, _ store: RevisionStore) throws -> BSONDocument? {
        if let body = new[revision] { return body.isDeleted ? nil : body.fields }
        guard former.isStored, let body = try store.body(of: former, revision), !body.isDeleted else { return nil }
        return body.fields
    }

    /// The attachments of a revision that the document has, if the batch made it or it was stored before.
    fileprivate func files(of revision: Revision, _ store: RevisionStore) throws -> [AttachmentFile] {
        if let body = new[revision] { return body.files }
        if former.isStored, revision == former.winner, !former.isDeleted, !former.isDesignDocument {
            return stored?.files ?? []
        }
        return try store.body(of: former, revision)?.files ?? []
    }
}

extension DocumentError {
    /// The refusal of a document, if an error is about the document that was to be saved, so that others can be saved.
    init?(about error: any Error) {
        switch error {
        case let error as TansuError:
            let codes: [TansuError.Code] = [
                .notUnique, .invalidDocument, .invalidBSON, .invalidID, .tooLarge, .referenced, .notFound,
            ]
            guard codes.contains(error.code) else { return nil }
            self = .refused(error.message)
        // A body that is too deep, and a tree that is too large.
        case let error as RevisionError: self = .refused(error.description)
        default: return nil
        }
    }
}

// MARK: - Placing

/// A body that is to be stored.
struct NewBody {
    let isDeleted: Bool
    let fields: BSONDocument
    let files: [AttachmentFile]
}

/// What changes documents, collected so that the engine has few calls for many documents.
struct PendingWrites {
    var documents: [BSONDocument] = []
    var removedDocuments: [BSONValue] = []
    var bodies: [BSONDocument] = []
    var removedBodies: [BSONValue] = []
    var files: [BSONDocument] = []
    var removedFiles: [BSONValue] = []
    var records: [BSONDocument] = []
}

extension RevisionStore {
    /// Brings a changed record into its next state: the collection has the winner's body, `bodies` those of other
    /// revisions. The record gets the next update sequence.
    ///
    /// - Parameters:
    ///   - record: The record with the new tree.
    ///   - former: The one before the change.
    ///   - stored: What the collection has of the document.
    ///   - new: The bodies of the new revisions.
    func place(
        _ record: inout DocumentRecord, former: DocumentRecord, stored: StoredDocument?, new: [Revision: NewBody],
        _ writes: inout PendingWrites
    ) throws {
        record.updateWinner()
        let winner = record.winner
        let winnerMoved = !former.isStored || former.winner != winner || former.isDeleted != record.isDeleted
        var bodies = new
        // The former winner's body leaves the collection.
        if former.isStored, !former.isDeleted, former.winner != winner, !record.isDesignDocument, let stored,
            record.tree.contains(former.winner)
        {
            bodies[former.winner] = NewBody(
                isDeleted: false, fields: stored.document.wireFields, files: stored.files)
        }
        if winnerMoved, !record.isDesignDocument {
            try placeWinner(&record, former: former, hadFiles: stored?.files.isEmpty == false, &bodies, &writes)
        }
        for (revision, body) in bodies {
            let isLeaf = record.tree.isLeaf(revision)
            // A tombstone without fields needs no body.
            if body.isDeleted, body.fields.isEmpty, body.files.isEmpty { continue }
            if !isLeaf { state.staleBodies += 1 }
            var document: BSONDocument = [
                "_id": Self.bodyID(record.id, revision), "body": body.fields.asStoredBody,
            ]
            if !body.files.isEmpty { document["files"] = AttachmentFile.document(of: body.files)["files"] }
            writes.bodies.append(document)
        }
        if record.isDesignDocument, former.isStored, !record.tree.isLeaf(former.winner) { state.staleBodies += 1 }
        state.sequence += 1
        record.sequence = state.sequence
        count(former, -1)
        record.isStored = true
        count(record, 1)
        isStateChanged = true
        writes.records.append(try record.document())
    }

    /// Puts the winner's body into the collection, or removes the document.
    private func placeWinner(
        _ record: inout DocumentRecord, former: DocumentRecord, hadFiles: Bool, _ bodies: inout [Revision: NewBody],
        _ writes: inout PendingWrites
    ) throws {
        let id = record.storedID
        if record.isDeleted {
            if former.isStored, !former.isDeleted { writes.removedDocuments.append(id) }
            if hadFiles { writes.removedFiles.append(id) }
            record.hasFiles = false
            return
        }
        let winner = record.winner
        let body: NewBody
        if let new = bodies.removeValue(forKey: winner) {
            body = new
        } else {
            let stored = try self.bodies.get(Self.bodyID(record.id, winner))
            writes.removedBodies.append(Self.bodyID(record.id, winner))
            body = NewBody(
                isDeleted: false, fields: try BSONDocument(storedBody: stored?["body"]),
                files: try AttachmentFile.files(in: stored))
        }
        let document = BSONDocument(joining: ["_id": id], body.fields)
        writes.documents.append(document)
        if !body.files.isEmpty {
            writes.files.append(AttachmentFile.document(of: body.files, id: id))
        } else if hadFiles {
            writes.removedFiles.append(id)
        }
        record.hasFiles = !body.files.isEmpty
    }

    private func count(_ record: DocumentRecord, _ number: Int64) {
        guard record.isStored else { return }
        if record.isDeleted { state.deletedDocuments += number } else { state.documents += number }
    }

    /// Makes the collected changes, of which none counts as one without the layer.
    func perform(_ writes: PendingWrites) throws {
        if !writes.removedFiles.isEmpty { try remove(writes.removedFiles, attachments) }
        if !writes.removedDocuments.isEmpty {
            try remove(writes.removedDocuments, documents)
            // By the delete rules of references the engine may have changed others.
            isSettled = false
        }
        let removed = writes.removedFiles + writes.removedDocuments
        if !removed.isEmpty { try remove(removed, changes) }
        if !writes.removedBodies.isEmpty { try remove(writes.removedBodies, bodies) }
        if !writes.documents.isEmpty { try documents.saveCopies(writes.documents) }
        if !writes.files.isEmpty { try attachments.saveCopies(writes.files) }
        if !writes.bodies.isEmpty { try bodies.save(writes.bodies) }
        if !writes.records.isEmpty { try records.save(writes.records) }
    }

    func remove(_ ids: [BSONValue], _ collection: Database.Collection<BSONDocument>) throws {
        if ids.count == 1 {
            try collection.remove(id: ids[0])
        } else {
            try collection.remove(["_id": ["$in": .array(BSONArray(ids))]])
        }
    }
}

// MARK: - Reclaiming

extension RevisionStore {
    /// Forgets leaves as if they never were. Another leaf may become the winner; a document without leaves is gone.
    ///
    /// - Returns: The given revisions that were leaves.
    package func purge(_ id: String, _ revisions: [Revision]) throws -> [Revision] {
        guard var document = try openDocuments([id]).first, document.record.isStored else { return [] }
        let leaves = document.record.tree.leaves.map(\.revision)
        let stored = document.record.tree.storedRevisions
        let purged = document.record.tree.purge(revisions)
        guard !purged.isEmpty else { return [] }
        state.purgeSequence += 1
        isStateChanged = true
        var writes = PendingWrites()
        for revision in leaves where purged.contains(revision) {
            writes.removedBodies.append(Self.bodyID(id, revision))
        }
        try perform(writes)
        if document.record.tree.isEmpty {
            try forget(document.record, stored, hadDocument: document.stored != nil)
        } else {
            document.isChanged = true
            _ = try close([document])
        }
        return purged
    }

    /// Removes all that is stored of a document.
    private func forget(_ record: DocumentRecord, _ revisions: [Revision], hadDocument: Bool) throws {
        var writes = PendingWrites()
        writes.removedBodies = revisions.map { Self.bodyID(record.id, $0) }
        if hadDocument {
            writes.removedDocuments.append(record.storedID)
            writes.removedFiles.append(record.storedID)
        }
        try perform(writes)
        try records.remove(id: record.id)
        if record.isDeleted { state.deletedDocuments -= 1 } else { state.documents -= 1 }
        state.sequence += 1
    }

    /// Forgets the revisions of a tree that are beyond the limit, with their bodies.
    func stem(_ tree: inout RevisionTree, _ id: String, _ writes: inout PendingWrites) {
        guard tree.mayExceed(state.revsLimit) else { return }
        let stored = tree.storedRevisions
        guard tree.stem(to: state.revsLimit) else { return }
        for revision in stored where !tree.contains(revision) {
            writes.removedBodies.append(Self.bodyID(id, revision))
            state.staleBodies = max(0, state.staleBodies - 1)
        }
    }

    /// How far a compaction is.
    struct Compaction: Sendable {
        /// The id of the last document.
        var passed = ""
        /// How many bodies there were to remove when it began.
        let stale: Int64
    }

    /// Whether a compaction is due: there are more bodies of revisions that are no leaves than documents, and than 1000.
    var needsCompaction: Bool { state.staleBodies > max(Self.toleratedBodies, state.documents) }

    private static let toleratedBodies: Int64 = 1000

    /// A batch of a compaction.
    ///
    /// - Returns: How far it is now; nil when it is done.
    func compact(_ compaction: Compaction) throws -> Compaction? {
        var compaction = compaction
        if let passed = try compact(after: compaction.passed) {
            compaction.passed = passed
            return compaction
        }
        state.staleBodies = max(0, state.staleBodies - compaction.stale)
        isStateChanged = true
        return nil
    }

    /// How many records a transaction of the compaction reads.
    static let compactedBatch = 2000

    /// Removes the bodies of revisions that are no leaves, of a batch of documents.
    ///
    /// - Parameter passed: The id of the last document of the batch before.
    /// - Returns: The id of the last document; nil when all are done.
    private func compact(after passed: String) throws -> String? {
        let batch = try records.find(
            ["_id": ["$gt": .string(passed)]],
            hints: ["$orderby": ["_id": 1], "$max": BSONValue(Self.compactedBatch)]
        ).all()
        var writes = PendingWrites()
        var last: String?
        for document in batch {
            var record = try DocumentRecord(document)
            last = record.id
            guard record.tree.count > 1 else { continue }
            let forgotten = record.tree.compact()
            let count = record.tree.count
            stem(&record.tree, record.id, &writes)
            guard !forgotten.isEmpty || record.tree.count != count else { continue }
            writes.removedBodies += forgotten.map { Self.bodyID(record.id, $0) }
            writes.records.append(try record.document())
        }
        try perform(writes)
        return batch.count == Self.compactedBatch ? last : nil
    }
}

extension ReplicatedCollection {
    /// Removes the bodies of revisions that are no leaves, and attachments that no revision has any more, in
    /// transactions of bounded size.
    package func compact() throws {
        var pass: RevisionStore.Compaction? = try read { RevisionStore.Compaction(stale: $0.state.staleBodies) }
        while let current = pass { pass = try write { try $0.compact(current) } }
        _ = try BlobSweep.run(database)
    }

    /// Whether a collection is replicated.
    package static func isReplicated(_ name: String, in database: Database) throws -> Bool {
        try database.collection(StoreNames.states).get(name) != nil
    }

    /// Ends the replication of a collection: removes the revisions, and leaves the documents and their attachments.
    func switchOff() throws {
        try database.write { transaction in
            for collection in StoreNames.all(name) where collection != StoreNames.attachments(name) {
                try transaction.dropCollection(collection)
            }
            try dropRest(transaction)
            for tracked in [name, StoreNames.attachments(name)] {
                try transaction.session.setChangeTracking(nil, of: tracked)
            }
        }
        markAsDropped()
    }

    /// Drops the collection with all that belongs to it.
    package func drop() throws {
        try enable()
        try database.write { transaction in
            try transaction.dropCollection(name)
            try dropRevisions(transaction)
        }
        markAsDropped()
    }

    /// Drops all that belongs to a collection.
    func dropRevisions(_ transaction: Database.Transaction) throws {
        for collection in StoreNames.all(name) { try transaction.dropCollection(collection) }
        try dropRest(transaction)
    }

    private func dropRest(_ transaction: Database.Transaction) throws {
        try FindIndexNames.drop(name, transaction)
        let states = try transaction.collection(StoreNames.states)
        if let instance = try states.get(name)?["instance"]?.stringValue {
            try transaction.dropCollection(StoreNames.changes(instance))
        }
        try states.remove(id: name)
    }
}
#endif
