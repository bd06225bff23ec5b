#if TansuSync
    import Tansu
    import TansuBSON

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
        package func switchOff() throws {
            try database.write { transaction in
                for collection in StoreNames.all(name) where collection != StoreNames.attachments(name) {
                    try transaction.dropCollection(collection)
                }
                try dropRest(transaction)
            }
            markAsDropped()
        }

        /// Drops the collection with all that belongs to it.
        package func drop() throws {
            try enable()
            try dropRevisions(alsoDocuments: true)
        }

        /// Drops all that belongs to a collection.
        func dropRevisions(alsoDocuments: Bool) throws {
            try database.write { transaction in
                if alsoDocuments { try transaction.dropCollection(name) }
                for collection in StoreNames.all(name) { try transaction.dropCollection(collection) }
                try dropRest(transaction)
            }
            markAsDropped()
        }

        private func dropRest(_ transaction: Database.Transaction) throws {
            try FindIndexNames.drop(name, transaction)
            try transaction.collection(StoreNames.states).remove(id: name)
        }
    }
#endif
