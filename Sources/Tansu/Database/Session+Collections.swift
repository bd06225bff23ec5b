/// What a database and a transaction have in common about collections.
extension Session {
    func collection<Element>(_ name: String, _ codec: DocumentCodec<Element>) throws -> Database.Collection<Element> {
        try name.checkName()
        return Database.Collection(session: self, name: name, codec: codec)
    }

    func collections() throws -> [Database.CollectionInfo] {
        try BSONDecoder().decode(CollectionList.self, from: reading.collectionList()).collections
    }

    func ensureCollection(_ name: String) throws {
        try name.checkName()
        try writing().ensureCollection(name)
    }

    func renameCollection(_ name: String, to newName: String) throws {
        try name.checkName()
        try newName.checkName()
        try name.refuseSchemas()
        try newName.refuseSchemas()
        try changing(name) { session in
            try session.writing().renameCollection(name, to: newName)
            try session.moveSchema(of: name, to: newName)
        }
    }

    func removeCollection(_ name: String) throws -> Bool {
        try name.checkName()
        try name.refuseSchemas()
        do {
            try changing(name) { session in
                try session.writing().removeCollection(name)
                try session.moveSchema(of: name, to: nil)
            }
            return true
        } catch let error as TansuError where error.code == .notFound {
            return false
        }
    }
}

private struct CollectionList: Decodable {
    let collections: [Database.CollectionInfo]
}
