#if TansuSync
    import Tansu
    import TansuBSON

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
                throw ReplicationError(.corrupt, "A document that is not replicated lacks fields: \(document)")
            }
            self.init(id: id, revision: revision, fields: try BSONDocument(storedBody: document["body"]))
        }
    }
#endif
