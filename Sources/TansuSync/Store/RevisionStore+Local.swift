#if TansuSync
    import Tansu
    import TansuBSON

    /// What the collection has of a document.
    struct StoredDocument {
        let document: BSONDocument
        var files: [AttachmentFile]
    }

    extension RevisionStore {
        /// What the collection has of some documents, by their ids on the wire.
        ///
        /// - Throws: ``ReplicationError`` when an ObjectId and the text of its digits are both there.
        func storedDocuments(ids: [BSONValue]) throws -> [BytewiseText: StoredDocument] {
            guard !ids.isEmpty else { return [:] }
            let found = try documents.get(ids: ids).map { (id: $0["_id"] ?? .null, document: $0) }
            if found.isEmpty { return [:] }
            var files: [BSONValue: [AttachmentFile]] = [:]
            for document in try attachments.get(ids: found.map(\.id)) {
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

        /// Whether the collection has something else than the layer has put there.
        func isChangedLocally(_ record: DocumentRecord?, _ stored: StoredDocument?) -> Bool {
            guard let record else { return stored != nil }
            if record.isDesignDocument { return stored != nil }
            guard let stored else { return record.digest != nil }
            return record.digest != Self.digest(stored.document, stored.files)
        }

        /// Gives the net change that was made to a document without the layer its revision.
        ///
        /// - Parameter document: What the collection has; attachments that were added get the revision's generation.
        /// - Returns: The record after it.
        func followLocalChange(
            _ record: DocumentRecord, _ document: inout StoredDocument?, _ writes: inout PendingWrites
        ) throws -> DocumentRecord {
            var changed = record
            if var stored = document {
                try validate(stored.document, record.id)
                let parent = record.isStored ? record.winner : nil
                let fields = stored.document.wireFields
                let revision = try RevisionDigest.revision(
                    after: parent, body: fields, attachments: stored.files.map(\.digestPart))
                if stored.files.contains(where: { $0.revpos <= 0 }) {
                    for index in stored.files.indices where stored.files[index].revpos <= 0 {
                        stored.files[index].revpos = revision.generation
                    }
                    writes.files.append(AttachmentFile.document(of: stored.files, id: record.storedID))
                    document = stored
                }
                // The collection has the body of the parent no more.
                if let parent, !record.isDeleted { changed.tree.forgetBody(of: parent) }
                try changed.tree.merge(path(revision, after: parent))
                stem(&changed.tree, record.id, &writes)
                changed.updateWinner()
                changed.digest = Self.digest(stored.document, stored.files)
                changed.hasFiles = !stored.files.isEmpty
                try placeFollowed(&changed, former: record, &writes)
                return changed
            }
            // Removing a document removes its conflicts: it must not come back as one of them.
            if !record.isDeleted { changed.tree.forgetBody(of: record.winner) }
            var orphans: [BSONValue] = []
            for leaf in changed.tree.leaves where !leaf.isDeleted {
                let revision = try RevisionDigest.revision(after: leaf.revision, isDeleted: true, body: [:])
                try changed.tree.merge(path(revision, after: leaf.revision), status: .deleted)
                if leaf.revision != record.winner { orphans.append(Self.bodyID(record.id, leaf.revision)) }
            }
            state.staleBodies += Int64(orphans.count)
            stem(&changed.tree, record.id, &writes)
            changed.updateWinner()
            changed.digest = nil
            changed.hasFiles = false
            try placeFollowed(&changed, former: record, &writes)
            return changed
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
                throw ReplicationError(
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
