#if TansuServer
    import TansuBSON
    import TansuSync

    extension RevisionStore {
        /// A revision as selectors see it: with `_id`, `_rev` and what else CouchDB shows of it.
        func mangoDocument(_ record: DocumentRecord, _ revision: Revision) throws -> BSONDocument? {
            guard let body = try body(of: record, revision) else { return nil }
            if !body.isDeleted, revision == record.winner { return try wholeDocument(record) }
            var document: BSONDocument = ["_id": .string(record.id), "_rev": .string(revision.description)]
            for (name, value) in body.fields { document[name] = value }
            if body.isDeleted { document["_deleted"] = true }
            if !body.files.isEmpty {
                document["_attachments"] = .document(
                    BSONDocument(body.files.map { ($0.name, .document($0.stub)) }))
            }
            return document
        }
    }
#endif
