#if TansuSync
import Tansu
import TansuBSON

/// Two revisions of a document that were made from the same one on different replicas.
public struct RevisionConflict: Sendable {
    /// One side of a conflict.
    public struct Side: Sendable {
        /// Its revision.
        public let revision: Revision
        /// The document without `_id`.
        public let fields: BSONDocument
    }

    /// The id of the document on the wire.
    public let id: String
    /// The revision that wins, which is the same one on every replica.
    public let winner: Side
    /// The other one.
    public let other: Side
    /// The newest revision from which both were made, where its body is still stored.
    public let commonAncestor: Side?
}

/// What becomes of a conflict.
public enum ConflictResolution: Sendable {
    /// It stays a conflict: the winner is the document, the other revision is kept.
    case keepBoth
    /// The winner stays, the other revision gets a tombstone.
    case keepWinner
    /// The other revision becomes the document.
    case keepOther
    /// These fields become the document. `_id` is left out; no other one begins with `_`.
    case merge(BSONDocument)
}

/// Decides what becomes of a conflict. It must return the same for the same revisions on every replica.
public typealias ConflictResolver = @Sendable (RevisionConflict) throws -> ConflictResolution

extension RevisionStore {
    /// Resolves the conflicts of some documents.
    ///
    /// - Parameter isAnswer: Whether every replica that gets the conflict does so, not somebody on this one.
    func resolveConflicts(
        of ids: some Collection<String>, isAnswer: Bool = false, _ resolver: ConflictResolver
    ) throws {
        for id in ids {
            guard let record = try document(id), !record.isDeleted else { continue }
            // The other sides in their order, each against what the ones before have left.
            for other in record.tree.conflicts { try resolve(id, other, isAnswer: isAnswer, resolver) }
        }
    }

    /// Resolves the conflicts of documents that another replica has pushed. A conflict stays where the resolver throws,
    /// or where the collection refuses what it returns: the push goes on.
    func resolvePushedConflicts(of ids: some Collection<String>, _ resolver: @escaping ConflictResolver) throws {
        for id in ids {
            let former = state
            do {
                try transaction.savepoint {
                    try resolveConflicts(of: [id], isAnswer: true) { conflict in
                        do { return try resolver(conflict) } catch { throw ResolverFailure() }
                    }
                }
            } catch let error where error is ResolverFailure || error is DocumentError {
                state = former
            } catch let error as SyncError where !error.isOfAttachment {
                state = former
            }
        }
    }

    /// The resolver has thrown.
    private struct ResolverFailure: Error {}

    /// How many generations in a row may have conflicts that a resolver ends with a new revision. One that does not return the same on
    /// every replica makes a conflict of each answer.
    private static let maximumAnswers = 32

    private func resolve(
        _ id: String, _ other: Revision, isAnswer: Bool, _ resolver: ConflictResolver
    ) throws {
        guard let record = try document(id), !record.isDeleted, record.tree.isLeaf(other), record.winner != other,
            let winnerBody = try body(of: record, record.winner), let otherBody = try body(of: record, other)
        else { return }
        let conflict = RevisionConflict(
            id: id, winner: .init(revision: record.winner, fields: winnerBody.fields),
            other: .init(revision: other, fields: otherBody.fields),
            commonAncestor: try commonAncestor(record, record.winner, other))
        let merged: (fields: BSONDocument, attachments: [EditedAttachment])
        switch try resolver(conflict) {
        case .keepBoth: return
        case .keepWinner:
            try end(other, of: id)
            return
        case .keepOther: merged = (otherBody.fields, otherBody.files.map { .file($0) })
        case .merge(var fields):
            if isAnswer { fields = try dated(fields, merging: [winnerBody.fields, otherBody.fields]) }
            let stubs = winnerBody.files.map { EditedAttachment.stub(name: $0.name, digest: nil, revpos: nil) }
            merged = (try mergeable(fields, id), stubs)
        }
        guard !isAnswer || record.tree.branchings(endingAt: record.winner) < Self.maximumAnswers else { return }
        var edit = DocumentEdit(
            id: id, parent: record.winner, fields: merged.fields, attachments: merged.attachments)
        edit.isDated = !isAnswer
        // A resolver can return what is no document: nested too deep, or with a zero byte in a key.
        do { _ = try save([edit])[0].get() } catch let error as BSONError {
            throw DocumentError.refused("\(error)")
        }
        try end(other, of: id)
    }

    /// The fields of a merge without `_id`, which a document as the collection has it comes with.
    private func mergeable(_ fields: BSONDocument, _ id: String) throws -> BSONDocument {
        var fields = fields
        fields["_id"] = nil
        try validate(fields, id)
        return fields
    }

    /// Puts a tombstone on a leaf.
    private func end(_ leaf: Revision, of id: String) throws {
        _ = try save([DocumentEdit(id: id, parent: leaf, isDeleted: true)])[0].get()
    }

    private func commonAncestor(
        _ record: DocumentRecord, _ a: Revision, _ b: Revision
    ) throws -> RevisionConflict.Side? {
        let ancestors = Set(record.tree.path(of: a)?.revisions ?? [])
        guard let shared = record.tree.path(of: b)?.revisions.first(where: ancestors.contains),
            let body = try body(of: record, shared)
        else { return nil }
        return RevisionConflict.Side(revision: shared, fields: body.fields)
    }
}
#endif
