// The operations on collections that a database and a transaction share.
extension Session {
    package func collection<Element>(_ name: String, _ codec: DocumentCodec<Element>) throws
        -> Database.Collection<Element>
    {
        try name.checkName()
        return Database.Collection(session: self, name: name, codec: codec)
    }

    /// A collection of values of a Codable type.
    package func typedCollection<Element: Codable & Sendable>(
        _ name: String, of type: Element.Type, coding: BSONCodingStrategies
    ) throws -> Database.Collection<Element> {
        try collection(name, .codable(coding))
    }

    func collections() throws -> [Database.CollectionInfo] {
        try BSONDecoder().decode(CollectionList.self, from: engine.collectionList()).collections
    }

    func ensureCollection(_ name: String, compression: Database.CollectionCompression?) throws {
        try name.checkName()
        try checkMayWrite()
        try engine.ensureCollection(name, options: compression.map { ["compression": .string($0.rawValue)] } ?? [:])
    }

    func renameCollection(_ name: String, to newName: String) throws {
        try name.checkName()
        try newName.checkName()
        try name.rejectOwnCollection()
        try newName.rejectOwnCollection()
        try checkMayWrite()
        try changing(name) { session in
            try session.engine.renameCollection(name, to: newName)
            try session.moveSchema(of: name, to: newName)
        }
    }

    func dropCollection(_ name: String) throws -> Bool {
        try name.checkName()
        try name.rejectOwnCollection()
        try checkMayWrite()
        do {
            try changing(name) { session in
                try session.engine.dropCollection(name)
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
