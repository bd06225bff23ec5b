#if TansuSync
    import Tansu
    import TansuBSON

    extension RevisionStore {
        /// Gives documents that were changed without the layer their revisions. Those whose ids cannot be on the wire get none: the others
        /// are served, and ``ReplicatedCollection/rejectOtherIDs()`` tells the app.
        ///
        /// - Parameter ids: Ids of documents in the collection that may have changed.
        func follow(_ ids: some Collection<BSONValue>) throws {
            let pairs = ids.compactMap { id in Self.wireID(of: id).map { (wire: $0, stored: id) } }
                .sorted { TermOrder.order($0.wire, $1.wire) == .before }
            var start = 0
            while start < pairs.count {
                let batch = pairs[start..<min(start + Self.followedBatch, pairs.count)]
                start += batch.count
                try followBatch(Array(batch))
            }
        }

        /// How many documents are read at a time.
        private static let followedBatch = 2000

        private func followBatch(_ batch: [(wire: String, stored: BSONValue)]) throws {
            let found = try documents(batch.map(\.wire))
            // An ObjectId and the text of its digits are one id on the wire: the document may have the other one by now.
            var ids = batch.map(\.stored)
            for (wire, id) in batch {
                if let former = found[BytewiseText(wire)]?.storedID, former != id { ids.append(former) }
            }
            let stored = try storedDocuments(ids: ids)
            var writes = PendingWrites()
            var last: String?
            for (wire, _) in batch {
                if let last, TermOrder.order(last, wire) == .same { continue }
                last = wire
                var document = stored[BytewiseText(wire)]
                let known = found[BytewiseText(wire)]
                guard isChangedLocally(known, document) else { continue }
                var record = known ?? DocumentRecord(id: wire, isObjectID: false)
                if let id = document?.document["_id"] { record.isObjectID = id.objectIDValue != nil }
                _ = try followLocalChange(record, &document, &writes)
            }
            try perform(writes)
        }

        /// Which of some documents were changed without the layer.
        func changedLocally(_ ids: some Collection<BSONValue>) throws -> [BSONValue] {
            let wire = ids.compactMap(Self.wireID(of:))
            let found = try documents(wire)
            let stored = try storedDocuments(ids: Array(ids))
            return ids.filter { id in
                guard let wire = Self.wireID(of: id).map({ BytewiseText($0) }) else { return true }
                return isChangedLocally(found[wire], stored[wire])
            }
        }

        // MARK: Comparing everything

        /// Where a comparison of all documents has arrived.
        struct Comparison: Sendable {
            var passed: BSONValue = ""
            var stage = Stage.texts

            enum Stage: Sendable {
                case texts
                case objectIDs
                case records
                case done
            }
        }

        /// Compares a batch of all documents and records, for a change stream that cannot say any more what has changed.
        func compare(_ comparison: inout Comparison) throws {
            let filter: BSONDocument = ["_id": ["$gt": comparison.passed]]
            let hints: BSONDocument = ["$orderby": ["_id": 1], "$max": BSONValue(Self.followedBatch)]
            switch comparison.stage {
            case .texts, .objectIDs:
                let ids = try documents.find(filter, hints: hints).all().compactMap { $0["_id"] }
                try follow(ids)
                if let last = ids.last { comparison.passed = last }
                guard ids.count < Self.followedBatch else { return }
                if comparison.stage == .texts {
                    comparison.stage = .objectIDs
                    // Below all ObjectIds that are made.
                    comparison.passed = .objectID(.zero)
                } else {
                    comparison.stage = .records
                    comparison.passed = ""
                }
            case .records:
                // Documents that were removed.
                let records = try records.find(filter, hints: hints).all().map { try DocumentRecord($0) }
                try follow(records.filter { !$0.isDeleted && !$0.isDesignDocument }.map(\.storedID))
                if !state.hasExactRevpos { try raiseRevpos(of: records.map(\.id)) }
                if let last = records.last { comparison.passed = .string(last.id) }
                if records.count < Self.followedBatch { comparison.stage = .done }
            case .done: break
            }
        }

        /// Gives the attachments of leaves the generations of their revisions as `revpos`.
        ///
        /// A client that replaces the bytes can leave the old `revpos` in the document. Earlier versions kept it, and then a replica with an
        /// ancestor never got the new bytes: it asks for attachments with a greater `revpos` only.
        private func raiseRevpos(of ids: [String]) throws {
            let found = try documents(ids).values
            let stored = try storedDocuments(ids: found.filter(\.hasFiles).map(\.storedID))
            var writes = PendingWrites()
            for var record in found {
                if !record.isDeleted, let document = stored[BytewiseText(record.id)], !document.files.isEmpty {
                    let files = document.files.map { $0.raised(to: record.winner.generation) }
                    writes.files.append(AttachmentFile.document(of: files, id: record.storedID))
                    record.digest = Self.digest(document.document, files)
                    writes.records.append(try record.document())
                }
                for leaf in record.tree.leaves where record.isDesignDocument || leaf.revision != record.winner {
                    guard var body = try bodies.get(Self.bodyID(record.id, leaf.revision)), body["files"] != nil else {
                        continue
                    }
                    let files = try AttachmentFile.files(in: body).map { $0.raised(to: leaf.revision.generation) }
                    body["files"] = AttachmentFile.document(of: files)["files"]
                    writes.bodies.append(body)
                }
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
        /// - Throws: ``ReplicationError`` when it has none.
        static func validWireID(of id: BSONValue, in name: String) throws -> String {
            guard let wireID = wireID(of: id) else {
                throw ReplicationError(
                    .unusableID,
                    "Collection \"\(name)\" has a document with the id \(id.extendedJSON(.relaxed)); "
                        + "ids of replicated documents are ObjectIds, or text that is not empty and does not begin with \"_\""
                        + (id.binaryValue?.uuid == nil
                            ? "" : "; UUIDs are stored as text with coding: .init(uuid: .string)"))
            }
            return wireID
        }

        /// The error for two documents that have one id on the wire.
        func sameID(_ id: String) -> ReplicationError {
            ReplicationError(
                .unusableID,
                "Collection \"\(name)\" has the document \"\(id)\" twice, as text and as an ObjectId, which are one id "
                    + "on the wire; remove one of them")
        }
    }
#endif
