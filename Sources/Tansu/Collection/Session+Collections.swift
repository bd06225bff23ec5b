// The operations on collections that a database and a transaction share.
extension Session {
    package func collection<Element>(_ name: String, _ codec: DocumentCodec<Element>) throws
        -> Database.Collection<Element>
    {
        try name.checkName()
        engine.engine.recorder?.noteType(Element.self, of: name)
        return Database.Collection(session: self, name: name, codec: codec)
    }

    /// A collection of values of a Codable type.
    package func typedCollection<Element: Codable & Sendable>(
        _ name: String, of type: Element.Type, coding: BSONCodingStrategies
    ) throws -> Database.Collection<Element> {
        try collection(name, .codable(coding))
    }

    package func collections() throws -> [Database.CollectionInfo] {
        try BSONDecoder().decode(CollectionList.self, from: engine.collectionList()).collections
    }

    /// What ``collections()`` has of one collection, however many others there are; nil when there is none.
    package func collectionInfo(_ name: String) throws -> Database.CollectionInfo? {
        do {
            try name.checkName()
            return try BSONDecoder().decode(Database.CollectionInfo.self, from: engine.collectionInfo(name))
        } catch let error as TansuError where error.code == .notFound || error.code == .invalidName {
            return nil
        }
    }

    /// The collections with references to a collection, which need not exist.
    package func referrers(to name: String) throws -> [Database.CollectionInfo] {
        try name.checkName()
        return try BSONDecoder().decode(CollectionList.self, from: engine.referrers(to: name)).collections
    }

    func collectionNames() throws -> [String] {
        try engine.collectionList()["collections"]?.arrayValue?
            .compactMap { $0.documentValue?["name"]?.stringValue } ?? []
    }

    func ensureCollection(_ name: String, compression: Database.CollectionCompression?) throws {
        try name.checkName()
        try checkMayWrite()
        try engine.ensureCollection(name, options: compression.map { ["compression": .string($0.rawValue)] } ?? [:])
    }

    package func setReferences(_ references: [Database.CollectionReference], of name: String) throws {
        try name.checkName()
        try name.rejectOwnCollection()
        try checkMayWrite()
        let list = references.map { reference in
            BSONValue.document([
                "path": .string(reference.path), "to": .string(reference.collection),
                "onDelete": .string(reference.onDelete.rawValue),
            ])
        }
        try engine.ensureCollection(name, options: ["references": BSONValue(list)])
    }

    package func setTimestamps(_ timestamps: Database.Timestamps?, of name: String) throws {
        try name.checkName()
        try name.rejectOwnCollection()
        try checkMayWrite()
        var option = BSONValue.bool(false)
        if let timestamps {
            var fields: BSONDocument = [:]
            if let created = timestamps.created { fields["created"] = .string(created) }
            if let updated = timestamps.updated { fields["updated"] = .string(updated) }
            option = .document(fields)
        }
        try engine.ensureCollection(name, options: ["timestamps": option])
    }

    func danglingReferences(of name: String?, limit: Int) throws -> Database.DanglingReferences {
        try name?.checkName()
        return try BSONDecoder().decode(
            Database.DanglingReferences.self,
            from: engine.danglingReferences(danglingOptions(name, ["limit": BSONValue(limit)])))
    }

    func repairDanglingReferences(of name: String?) throws -> Database.ReferenceRepair {
        try name?.checkName()
        try checkMayWrite()
        return try BSONDecoder().decode(
            Database.ReferenceRepair.self, from: engine.danglingReferences(danglingOptions(name, ["repair": true])))
    }

    private func danglingOptions(_ name: String?, _ options: BSONDocument) -> BSONDocument {
        var options = options
        if let name { options["collection"] = .string(name) }
        return options
    }

    package func renameCollection(_ name: String, to newName: String) throws {
        try name.checkName()
        try newName.checkName()
        try name.rejectOwnCollection()
        try newName.rejectOwnCollection()
        try checkMayWrite()
        if transaction == nil, try isReplicated(name) {
            return try database.writeInCall { try $0.session.renameCollection(name, to: newName) }
        }
        try engine.renameCollection(name, to: newName)
        try moveReplication(of: name, to: newName)
    }

    func dropCollection(_ name: String) throws -> Bool {
        try name.checkName()
        try name.rejectOwnCollection()
        try checkMayWrite()
        do {
            try engine.dropCollection(name)
            return true
        } catch let error as TansuError where error.code == .notFound {
            return false
        }
    }
}

private struct CollectionList: Decodable {
    let collections: [Database.CollectionInfo]
}
