#if TansuSync
    import TansuBSON

    extension ReplicatedCollection {
        /// Checks a document before it is saved without the layer, which would find out too late.
        ///
        /// - Throws: ``ReplicationError`` when a replicated collection cannot have it. One without an id gets a valid one.
        package static func validate(_ document: BSONDocument, in name: String) throws {
            let id = try document["_id"].map { try RevisionStore.validWireID(of: $0, in: name) }
            try RevisionStore.validate(document, id ?? "new", in: name)
        }
    }
#endif
