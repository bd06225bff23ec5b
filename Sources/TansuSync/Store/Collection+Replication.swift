#if TansuSync
public import Tansu
import TansuBSON

/// Revisions of the documents of a collection. They are those of the newest commit: inside a transaction these calls
/// throw `.invalidState`.
extension Database.Collection {
    /// Switches replication on: each document gets its first revision. Harmless when it is on.
    ///
    /// Ordinary saves stay what they are. The collections `tansu.revisions.NAME` and others of that form keep the
    /// revisions.
    ///
    /// - Parameter resolver: Decides what becomes of conflicts that another replica brings; without one they are kept.
    /// - Returns: The collection with its revisions. Keep it as long as the resolver is wanted.
    /// - Throws: ``SyncError`` that names the first document that cannot be replicated; `TansuError`.
    @discardableResult
    public func enableReplication(resolver: ConflictResolver? = nil) throws -> ReplicatedCollection {
        try rejectInsideTransaction()
        let collection = try ReplicatedCollection.open(name, in: session.database, create: true)
        if let resolver { collection.setResolver(resolver) }
        try collection.rejectOtherIDs()
        try collection.read { _ in }
        return collection
    }

    /// Switches replication off: removes the revisions and keeps the documents.
    ///
    /// - Throws: ``SyncError`` with `.notReplicated`; `TansuError`.
    public func disableReplication() throws {
        try rejectInsideTransaction()
        try ReplicatedCollection.open(name, in: session.database, create: false).switchOff()
    }

    /// The revision of a document; nil when there is no such document.
    ///
    /// - Parameter id: Its `_id`.
    /// - Throws: ``SyncError`` with `.notReplicated`; `TansuError`.
    @_disfavoredOverload
    public func revision(of id: some DocumentID) throws -> Revision? {
        let id = stored(id)
        return try replicated().read { store in
            try RevisionStore.text(of: id).flatMap { try store.document($0) }.flatMap {
                $0.isDeleted ? nil : $0.winner
            }
        }
    }

    /// The conflicting revisions of a document: what other replicas made of it, without the winner, which is the
    /// document itself.
    ///
    /// - Parameter id: Its `_id`.
    /// - Returns: The revisions, the best first, with their fields.
    /// - Throws: ``SyncError`` with `.notReplicated`; `TansuError`.
    @_disfavoredOverload
    public func conflicts(of id: some DocumentID) throws -> [RevisionConflict.Side] {
        let id = stored(id)
        return try replicated().read { store in
            guard let record = try RevisionStore.text(of: id).flatMap({ try store.document($0) }),
                !record.isDeleted
            else { return [] }
            return try record.tree.conflicts.compactMap { revision in
                try store.body(of: record, revision).map {
                    RevisionConflict.Side(revision: revision, fields: $0.fields)
                }
            }
        }
    }

    /// The ids of the documents that have conflicts, in the order of their update sequences. An index answers it.
    ///
    /// - Throws: ``SyncError`` with `.notReplicated`; `TansuError`.
    public func conflicted() throws -> [BSONValue] {
        try replicated().read { try $0.conflicted() }
    }

    /// Ends all conflicts of a document: the document becomes these fields, the other revisions get tombstones.
    ///
    /// - Parameters:
    ///   - id: Its `_id`.
    ///   - fields: What the document becomes; as it is now when nil.
    /// - Throws: ``SyncError`` with `.notReplicated`; `TansuError`.
    @_disfavoredOverload
    public func resolveConflicts(of id: some DocumentID, with fields: BSONDocument? = nil) throws {
        guard let id = RevisionStore.text(of: stored(id)) else { return }
        do {
            try replicated().write { store in
                try store.resolveConflicts(of: [id]) { _ in fields.map { .merge($0) } ?? .keepWinner }
            }
        } catch DocumentError.refused(let reason) {
            throw SyncError(
                .refused, "Collection \"\(name)\" refuses what document \"\(id)\" would become: \(reason)")
        }
    }

    private func replicated() throws -> ReplicatedCollection {
        try rejectInsideTransaction()
        let collection = try ReplicatedCollection.open(name, in: session.database, create: false)
        try collection.rejectOtherIDs()
        return collection
    }

    private func rejectInsideTransaction() throws {
        guard session.isInTransaction else { return }
        throw TansuError(
            .invalidState,
            "Revisions of collection \"\(name)\" are read outside of transactions; use the collection of the database"
        )
    }
}

/// The asynchronous variants: on a thread of the database.
extension Database.Collection {
    /// Switches replication on: see the synchronous variant.
    @discardableResult
    public func enableReplication(resolver: ConflictResolver? = nil) async throws -> ReplicatedCollection {
        try await session.database.runWriting { _ in try self.enableReplication(resolver: resolver) }
    }

    /// The revision of a document: see the synchronous variant.
    @_disfavoredOverload
    public func revision(of id: some DocumentID) async throws -> Revision? {
        let id = stored(id)
        return try await session.database.runReading { _ in try self.revision(of: id) }
    }

    /// The conflicting revisions of a document: see the synchronous variant.
    @_disfavoredOverload
    public func conflicts(of id: some DocumentID) async throws -> [RevisionConflict.Side] {
        let id = stored(id)
        return try await session.database.runReading { _ in try self.conflicts(of: id) }
    }

    /// The ids of the documents that have conflicts: see the synchronous variant.
    public func conflicted() async throws -> [BSONValue] {
        try await session.database.runReading { _ in try self.conflicted() }
    }

    /// Ends all conflicts of a document: see the synchronous variant.
    @_disfavoredOverload
    public func resolveConflicts(of id: some DocumentID, with fields: BSONDocument? = nil) async throws {
        let id = stored(id)
        try await session.database.runWriting { _ in try self.resolveConflicts(of: id, with: fields) }
    }
}

// MARK: - Typed revisions

// The calls of Collection+Replication.swift with ids of the values' own type.
extension Database.Collection where Element: Identifiable, Element.ID: Encodable & Sendable {
    /// The revision of a value; nil when there is no such document.
    ///
    /// - Parameter id: Its id, which is stored as `_id`.
    /// - Throws: ``SyncError`` with `.notReplicated`; `TansuError`.
    public func revision(of id: Element.ID) throws -> Revision? { try revision(of: storedID(id)) }

    /// The conflicting revisions of a value: what other replicas made of it, without the winner.
    ///
    /// - Parameter id: Its id, which is stored as `_id`.
    /// - Returns: The revisions, the best first, with their fields.
    /// - Throws: ``SyncError`` with `.notReplicated`; `TansuError`.
    public func conflicts(of id: Element.ID) throws -> [RevisionConflict.Side] { try conflicts(of: storedID(id)) }

    /// Ends all conflicts of a value: its document becomes these fields, the other revisions get tombstones.
    ///
    /// - Parameters:
    ///   - id: Its id, which is stored as `_id`.
    ///   - fields: What the document becomes; as it is now when nil.
    /// - Throws: ``SyncError`` with `.notReplicated`; `TansuError`.
    public func resolveConflicts(of id: Element.ID, with fields: BSONDocument? = nil) throws {
        try resolveConflicts(of: storedID(id), with: fields)
    }

    /// The revision of a value: see the synchronous variant.
    public func revision(of id: Element.ID) async throws -> Revision? { try await revision(of: storedID(id)) }

    /// The conflicting revisions of a value: see the synchronous variant.
    public func conflicts(of id: Element.ID) async throws -> [RevisionConflict.Side] {
        try await conflicts(of: storedID(id))
    }

    /// Ends all conflicts of a value: see the synchronous variant.
    public func resolveConflicts(of id: Element.ID, with fields: BSONDocument? = nil) async throws {
        try await resolveConflicts(of: storedID(id), with: fields)
    }
}
#endif
