import TansuBSON

// The writes of collections: validated against the collection's schema when it has one, then passed to the engine.
extension Session {
    /// Saves one document, and returns its id.
    ///
    /// - Parameter flag: The cancellation of the task that waits, if there is one: it ends the wait for the write lock.
    func save(
        _ document: UnsafeRawBufferPointer, _ mode: SaveMode, in collection: String,
        cancelledBy flag: CancellationFlag? = nil
    ) throws -> BSONValue {
        if let flag { return try cancellable(.write, flag) { try $0.save(document, mode, in: collection) } }
        return try validating(collection) { session, schema in
            guard let schema else { return try session.engine.save(document, mode, in: collection) }
            return try schema.validated(document, of: collection).withUnsafeBytes {
                try session.engine.save($0, mode, in: collection)
            }
        }
    }

    /// Saves documents whose bytes follow each other, and returns their ids.
    func save(
        _ documents: UnsafeRawBufferPointer, sizes: [Int], _ mode: SaveMode, in collection: String,
        cancelledBy flag: CancellationFlag? = nil
    ) throws -> [BSONValue] {
        if let flag {
            return try cancellable(.write, flag) { try $0.save(documents, sizes: sizes, mode, in: collection) }
        }
        return try validating(collection) { session, schema in
            guard let schema else { return try session.engine.save(documents, sizes: sizes, mode, in: collection) }
            var bytes: [UInt8] = []
            var newSizes: [Int] = []
            var start = 0
            for (number, size) in sizes.enumerated() {
                let range = UnsafeRawBufferPointer(rebasing: documents[start..<start + size])
                let document = try schema.validated(range, of: collection, number: number)
                bytes += document.bytes
                newSizes.append(document.bytes.count)
                start += size
            }
            return try bytes.withUnsafeBytes {
                try session.engine.save($0, sizes: newSizes, mode, in: collection)
            }
        }
    }

    /// Updates the documents that match, and returns the engine's report.
    func update(
        _ query: BSONDocument, _ operations: BSONDocument, _ hints: BSONDocument, in collection: String
    ) throws -> BSONDocument {
        try validating(collection) { session, schema in
            guard let schema else {
                return try session.engine.update(query, operations, hints, in: collection)
            }
            let matched = try session.matched(query, hints, in: collection)
            let result = try session.engine.update(query, operations, hints, in: collection)
            let upserted = result["upserted"]?.arrayValue.map(Array.init) ?? []
            try session.check(matched + upserted, schema, of: collection)
            return result
        }
    }

    /// Updates or removes the first document that matches; its bytes, or `nil` when there is none.
    func findAndModify(
        _ query: BSONDocument, _ mode: ModifyMode, _ hints: BSONDocument, in collection: String
    ) throws -> [UInt8]? {
        try validating(collection) { session, schema in
            guard let schema, case .update(let operations, let returnsNew) = mode else {
                return try session.engine.findAndModify(query, mode, hints, in: collection) { Array($0) }
            }
            var first = hints
            first["$limit"] = nil
            first["$max"] = 1
            let matched = try session.matched(query, first, in: collection)
            if !matched.isEmpty {
                let found = try session.engine.findAndModify(query, mode, hints, in: collection) { Array($0) }
                try session.check(matched, schema, of: collection)
                return found
            }
            // Nothing matches: what an upsert inserts is known by its _id only from an update.
            var fields = hints
            let shown = fields.removeValue(forKey: "$fields")
            let result = try session.engine.update(query, operations, fields, in: collection)
            guard let id = result["upserted"]?.arrayValue?.first else { return nil }
            try session.check([id], schema, of: collection)
            guard returnsNew else { return nil }
            return try session.engine.withCursor(
                ["_id": id], shown.map { ["$fields": $0] } ?? [:], in: collection
            ) { cursor in
                try cursor.next { Array($0) }
            }
        }
    }

    /// Removes the documents that match; how many.
    func remove(_ query: BSONDocument, _ hints: BSONDocument, from collection: String) throws -> Int {
        try engineForRemoval(collection).remove(query, hints, from: collection)
    }

    /// Removes the document with an id; whether it was there.
    package func remove(id: BSONValue, from collection: String) throws -> Bool {
        try engineForRemoval(collection).remove(id: id, from: collection)
    }

    private func engineForRemoval(_ collection: String) throws -> EngineScope {
        try collection.rejectOwnCollection()
        try checkMayWrite()
        return engine
    }

    /// The ids of the documents that an update is about to change.
    private func matched(_ query: BSONDocument, _ hints: BSONDocument, in collection: String) throws -> [BSONValue] {
        var (query, hints) = (query, hints)
        for key in ["$upsert", "$dropall"] { query[key] = nil }
        for key in ["$upsert", "$arrayFilters"] { hints[key] = nil }
        hints["$fields"] = ["_id": 1]
        var ids: [BSONValue] = []
        try engine.forEach(query, hints: hints, in: collection) { document in
            if let id = document["_id"] { ids.append(id) }
        }
        return ids
    }

    /// Throws when one of the documents, if they are still there, is not what the schema asks for.
    private func check(_ ids: [BSONValue], _ schema: DocumentSchema, of collection: String) throws {
        for id in ids {
            if let document = try engine.document(id, in: collection) { try schema.validate(document, of: collection) }
        }
    }
}

extension DocumentSchema {
    /// The document, validated; with an `_id`, which a schema may ask for.
    fileprivate func validated(
        _ bytes: UnsafeRawBufferPointer, of collection: String, number: Int? = nil
    ) throws -> BSONDocument {
        var document = BSONDocument(trustedBytes: Array(bytes))
        if !document.contains(key: "_id") { document = document.withID(.objectID(ObjectID())) }
        try validate(document, of: collection, number: number)
        return document
    }
}

// MARK: - Transaction: replacing

extension Database.Transaction {
    /// Runs a closure that drops a collection and puts another one in its stead.
    ///
    /// To those who refer to it, nothing was removed: delete rules are not applied, and references to documents that the new
    /// collection does not have dangle. The new one gets the references and timestamps of the old one.
    ///
    /// - Parameters:
    ///   - collection: The collection's name.
    ///   - body: Drops it, and creates it or renames another one to it.
    package func replacing(_ collection: String, _ body: () throws -> Void) throws {
        let old = try session.collectionInfo(collection)
        let holders = try session.referrers(to: collection).filter { $0.name != collection }
        for holder in holders {
            try setReferences(holder.references.filter { $0.collection != collection }, of: holder.name)
        }
        try body()
        if let old {
            if !old.references.isEmpty { try setReferences(old.references, of: collection) }
            if let timestamps = old.timestamps { try setTimestamps(timestamps, of: collection) }
        }
        for holder in holders { try setReferences(holder.references, of: holder.name) }
    }
}

// MARK: - Replicated

// What the module TansuSync keeps of a replicated collection is in collections that have its name in theirs. It moves in the
// transaction that renames the collection, also in programs without that module.
extension Session {
    private static let states = "tansu.sync"
    private static let attachments = "tansu.attachments."
    private static let ownPrefixes = ["tansu.revisions.", "tansu.bodies.", "tansu.local."]
    private static let indexes = "tansu.indexes"
    private static let longestName = 120

    /// Whether a collection is replicated.
    func isReplicated(_ collection: String) throws -> Bool {
        try engine.document(.string(collection), in: Self.states) != nil
    }

    /// Gives what is kept of a replicated collection its new name, once the collection has it; of another one nothing is kept.
    package func moveReplication(of name: String, to newName: String) throws {
        guard var state = try engine.document(.string(name), in: Self.states) else { return }
        let longest = Self.longestName - Self.attachments.utf8.count
        guard newName.utf8.count <= longest else {
            throw TansuError(
                .invalidName, "The name of a replicated collection has at most \(longest) bytes", context: newName)
        }
        let all = try collections()
        for prefix in Self.ownPrefixes {
            // That of a former collection of the name, which nobody has removed.
            if all.contains(where: { $0.name == prefix + newName }) { try engine.dropCollection(prefix + newName) }
            if all.contains(where: { $0.name == prefix + name }) {
                try engine.renameCollection(prefix + name, to: prefix + newName)
            }
        }
        try moveAttachments(of: name, to: newName, all)
        for former in [name, newName] { try dropIndexes(of: former, all) }
        _ = try engine.remove(id: .string(name), from: Self.states)
        state["_id"] = .string(newName)
        _ = try state.withUnsafeBytes { try engine.save($0, .save, in: Self.states) }
    }

    /// The collection that leads to the documents may have another name than theirs, and another one theirs.
    private func moveAttachments(of name: String, to newName: String, _ all: [Database.CollectionInfo]) throws {
        func target(_ info: Database.CollectionInfo) -> String? {
            info.references.first { $0.path == "_id" }?.collection
        }
        let wanted = Self.attachments + newName
        let leading = all.filter { $0.name.hasPrefix(Self.attachments) && target($0) == newName }
        let own = leading.first { $0.name == Self.attachments + name } ?? leading.first
        guard let own, own.name != wanted else { return }
        if let other = all.first(where: { $0.name == wanted }) {
            if let target = target(other), target != newName {
                try engine.renameCollection(wanted, to: Self.attachments + target)
            } else {
                try engine.dropCollection(wanted)
            }
        }
        try engine.renameCollection(own.name, to: wanted)
    }

    /// Drops the indexes of queries, which are built again. Of a long name the entries have a digest of it in their name: they stay
    /// until an index is built.
    private func dropIndexes(of collection: String, _ all: [Database.CollectionInfo]) throws {
        var ids: [BSONValue] = []
        try engine.forEach(in: Self.indexes) { document in
            guard let id = document["_id"], id.documentValue?["c"]?.stringValue == collection else { return }
            ids.append(id)
        }
        for id in ids {
            let entries = "tansu.index.\(id.documentValue?["i"]?.stringValue ?? "").\(collection)"
            if all.contains(where: { $0.name == entries }) { try engine.dropCollection(entries) }
            _ = try engine.remove(id: id, from: Self.indexes)
        }
    }
}
