#if TansuSync
    public import Tansu

    // The calls of Collection+Replication.swift with ids of the values' own type.
    extension Database.Collection where Element: Identifiable, Element.ID: Encodable & Sendable {
        /// The revision of a value; nil when there is no such document.
        ///
        /// - Parameter id: Its id, which is stored as `_id`.
        /// - Throws: ``ReplicationError`` with `.notReplicated`; `TansuError`.
        public func revision(of id: Element.ID) throws -> Revision? { try revision(of: storedID(id)) }

        /// The conflicting revisions of a value: what other replicas made of it, without the winner.
        ///
        /// - Parameter id: Its id, which is stored as `_id`.
        /// - Returns: The revisions, the best first, with their fields.
        /// - Throws: ``ReplicationError`` with `.notReplicated`; `TansuError`.
        public func conflicts(of id: Element.ID) throws -> [RevisionConflict.Side] { try conflicts(of: storedID(id)) }

        /// Ends all conflicts of a value: its document becomes these fields, the other revisions get tombstones.
        ///
        /// - Parameters:
        ///   - id: Its id, which is stored as `_id`.
        ///   - fields: What the document becomes; as it is now when nil.
        /// - Throws: ``ReplicationError`` with `.notReplicated`; `TansuError`.
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
