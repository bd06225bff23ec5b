import CTansu

extension EngineScope {
    /// The list of collections, as the engine tells it.
    func collectionList() throws -> BSONDocument {
        try document { tansu_collection_list($0, $1, $2, $3) }
    }

    /// Creates a collection unless it is there.
    func ensureCollection(_ name: String) throws {
        try call { tansu_collection_ensure($0, $1, name, nil, 0, $2) }
    }

    /// Gives a collection another name.
    func renameCollection(_ name: String, to newName: String) throws {
        try call { tansu_collection_rename($0, $1, name, newName, $2) }
    }

    /// Removes a collection.
    func removeCollection(_ name: String) throws {
        try call { tansu_collection_drop($0, $1, name, $2) }
    }

    /// The list of a collection's indexes, as the engine tells it.
    func indexList(of collection: String) throws -> BSONDocument {
        try document { tansu_index_list($0, $1, collection, $2, $3) }
    }

    /// Creates an index unless it is there. Outside a transaction `progress` hears of it, and may throw to end it.
    func ensureIndex(
        _ name: String?, on keys: BSONDocument, options: BSONDocument, of collection: String,
        progress: (Database.Progress) throws -> Void
    ) throws {
        try withBytes(keys, options) { keys, options in
            guard transaction == nil else {
                return try call { database, transaction, error in
                    tansu_index_create(
                        database, transaction, collection, name, keys.baseAddress, keys.count, options.baseAddress,
                        options.count, error)
                }
            }
            try withEngineProgress(progress) { tell, context in
                try call { database, _, error in
                    tansu_index_build(
                        database, collection, name, keys.baseAddress, keys.count, options.baseAddress, options.count,
                        tell, context, error)
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
    /// Throws `.invalidName` for what would not reach the engine whole, which knows all other rules of names.
    func checkName() throws {
        if utf8.contains(0) {
            throw TansuError(.invalidName, "a name cannot hold a NUL character", context: self)
        }
    }
}
