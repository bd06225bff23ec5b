import CTansu

/// What a database and a transaction have in common about collections.
extension Session {
    func collection<Element>(_ name: String, _ codec: DocumentCodec<Element>) throws -> Database.Collection<Element> {
        try checkName(name)
        return Database.Collection(session: self, name: name, codec: codec)
    }

    func collections() throws -> [Database.CollectionInfo] {
        let list = try document { database, transaction, buffer, error in
            tansu_collection_list(database, transaction, buffer, error)
        }
        return try BSONDecoder().decode(CollectionList.self, from: list).collections
    }

    func ensureCollection(_ name: String) throws {
        try checkName(name)
        try call(.write) { tansu_collection_ensure($0, $1, name, nil, 0, $2) }
    }

    func renameCollection(_ name: String, to newName: String) throws {
        try checkName(name)
        try checkName(newName)
        try call(.write) { tansu_collection_rename($0, $1, name, newName, $2) }
    }

    func removeCollection(_ name: String) throws -> Bool {
        try checkName(name)
        do {
            try call(.write) { tansu_collection_drop($0, $1, name, $2) }
            return true
        } catch let error as TansuError where error.code == .notFound {
            return false
        }
    }

    /// The document that a call of the engine answers.
    func document(
        _ body: (OpaquePointer, OpaquePointer?, UnsafeMutablePointer<tansu_buffer>, UnsafeMutablePointer<tansu_error>)
            -> tansu_status
    ) throws -> BSONDocument {
        try withEngineBuffer { buffer in
            try call(.read) { body($0, $1, &buffer, $2) }
            return BSONDocument(trustedBytes: Array(buffer.bytes))
        }
    }

    /// The engine knows the rules of names, but a NUL would end one before it sees it whole.
    private func checkName(_ name: String) throws {
        if name.utf8.contains(0) {
            throw TansuError(.invalidName, "a name cannot hold a NUL character", context: name)
        }
    }
}

private struct CollectionList: Decodable {
    let collections: [Database.CollectionInfo]
}
