#if TansuSync
    import Tansu
    import TansuBSON

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
                record.digest = nil
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
            let document = BSONDocument(joining: ["_id": id], body.fields.withStoredKeys)
            writes.documents.append(document)
            if !body.files.isEmpty {
                writes.files.append(AttachmentFile.document(of: body.files, id: id))
            } else if hadFiles {
                writes.removedFiles.append(id)
            }
            record.digest = Self.digest(document, body.files)
            record.hasFiles = !body.files.isEmpty
        }

        private func count(_ record: DocumentRecord, _ number: Int64) {
            guard record.isStored else { return }
            if record.isDeleted { state.deletedDocuments += number } else { state.documents += number }
        }

        /// Makes the collected changes.
        func perform(_ writes: PendingWrites) throws {
            writtenCount += writes.documents.count + writes.removedDocuments.count
            if !writes.removedDocuments.isEmpty { try remove(writes.removedDocuments, documents) }
            if !writes.removedFiles.isEmpty { try remove(writes.removedFiles, attachments) }
            if !writes.removedBodies.isEmpty { try remove(writes.removedBodies, bodies) }
            if !writes.documents.isEmpty { try documents.saveCopies(writes.documents) }
            if !writes.files.isEmpty { try attachments.save(writes.files) }
            if !writes.bodies.isEmpty { try bodies.save(writes.bodies) }
            if !writes.records.isEmpty { try records.save(writes.records) }
        }

        private func remove(_ ids: [BSONValue], _ collection: Database.Collection<BSONDocument>) throws {
            if ids.count == 1 {
                try collection.remove(id: ids[0])
            } else {
                try collection.remove(["_id": ["$in": .array(BSONArray(ids))]])
            }
        }
    }
#endif
