import CTansu

extension EngineScope {
    /// The engine's list of collections.
    func collectionList() throws -> BSONDocument {
        trackCatalog()
        return try document { tansu_collection_list($0, $1, $2, $3) }
    }

    /// What the engine's list has of one collection.
    ///
    /// - Throws: `TansuError` with `.notFound`.
    func collectionInfo(_ name: String) throws -> BSONDocument {
        trackCatalog()
        return try document { tansu_collection_info($0, $1, name, $2, $3) }
    }

    /// The part of the engine's list with references to a collection.
    func referrers(to name: String) throws -> BSONDocument {
        trackCatalog()
        return try document { tansu_collection_referrers($0, $1, name, $2, $3) }
    }

    /// Creates a collection unless it exists, and sets the options that are given.
    func ensureCollection(_ name: String, options: BSONDocument) throws {
        try options.withUnsafeBytes { options in
            try call { tansu_collection_ensure($0, $1, name, tansu_document(options), $2) }
        }
    }

    /// Finds or repairs references that lead to no document.
    func danglingReferences(_ options: BSONDocument) throws -> BSONDocument {
        try options.withUnsafeBytes { options in
            try document { tansu_dangling_references($0, $1, tansu_document(options), $2, $3) }
        }
    }

    /// Renames a collection.
    func renameCollection(_ name: String, to newName: String) throws {
        try call { tansu_collection_rename($0, $1, name, newName, $2) }
    }

    /// Drops a collection.
    func dropCollection(_ name: String) throws {
        try call { tansu_collection_drop($0, $1, name, $2) }
    }

    /// The engine's list of the indexes of a collection.
    func indexList(of collection: String) throws -> BSONDocument {
        try document { tansu_index_list($0, $1, collection, $2, $3) }
    }

    /// Creates an index unless it exists. Outside a transaction `progress` is called, and may throw to end the build.
    ///
    /// - Parameter declares: Whether it is created whenever the collection is, and now only if the collection exists.
    func ensureIndex(
        _ index: IndexDefinition, of collection: String, declares: Bool,
        progress: (Database.Progress) throws -> Void
    ) throws {
        let create = declares ? tansu_index_declare : tansu_index_create
        try withBytes(index.keys, index.options) { keys, options in
            guard transaction == nil else {
                return try call { database, transaction, error in
                    create(
                        database, transaction, collection, index.name, tansu_document(keys), tansu_document(options),
                        nil,
                        nil, error)
                }
            }
            try withEngineProgress(progress) { callback, context in
                try call { database, _, error in
                    create(
                        database, nil, collection, index.name, tansu_document(keys), tansu_document(options),
                        callback, context, error)
                }
            }
        }
    }

    /// Drops an index.
    func dropIndex(_ name: String, of collection: String) throws {
        try call { tansu_index_drop($0, $1, collection, name, $2) }
    }
}

extension String {
    /// Throws `.invalidName` for a name that would be truncated in C; the engine checks all other rules of names.
    func checkName() throws {
        if utf8.contains(0) {
            throw TansuError(.invalidName, "The name has a NUL character; remove it", context: self)
        }
    }
}
