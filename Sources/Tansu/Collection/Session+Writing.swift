import TansuBSON

// The writes of collections.
extension Session {
    /// Saves one document, and returns its id.
    ///
    /// - Parameter flag: The cancellation of the task that waits, if there is one: it ends the wait for the write lock.
    func save(
        _ document: UnsafeRawBufferPointer, _ mode: SaveMode, in collection: String,
        cancelledBy flag: CancellationFlag? = nil
    ) throws -> BSONValue {
        if let flag { return try cancellable(.write, flag) { try $0.save(document, mode, in: collection) } }
        return try engine(writingTo: collection).save(document, mode, in: collection)
    }

    /// Saves documents whose bytes follow each other, and returns their ids.
    func save(
        _ documents: UnsafeRawBufferPointer, sizes: [Int], _ mode: SaveMode, in collection: String,
        cancelledBy flag: CancellationFlag? = nil
    ) throws -> [BSONValue] {
        if let flag {
            return try cancellable(.write, flag) { try $0.save(documents, sizes: sizes, mode, in: collection) }
        }
        return try engine(writingTo: collection).save(documents, sizes: sizes, mode, in: collection)
    }

    /// Updates the documents that match, and returns the engine's report.
    func update(
        _ query: BSONDocument, _ operations: BSONDocument, _ hints: BSONDocument, in collection: String
    ) throws -> BSONDocument {
        try engine(writingTo: collection).update(query, operations, hints, in: collection)
    }

    /// Updates or removes the first document that matches; its bytes, or `nil` when there is none.
    func findAndModify(
        _ query: BSONDocument, _ mode: ModifyMode, _ hints: BSONDocument, in collection: String
    ) throws -> [UInt8]? {
        try engine(writingTo: collection).findAndModify(query, mode, hints, in: collection) { Array($0) }
    }

    /// Removes the documents that match; how many.
    func remove(_ query: BSONDocument, _ hints: BSONDocument, from collection: String) throws -> Int {
        try engine(writingTo: collection).remove(query, hints, from: collection)
    }

    /// Removes the document with an id; whether it was there.
    package func remove(id: BSONValue, from collection: String) throws -> Bool {
        try engine(writingTo: collection).remove(id: id, from: collection)
    }

    /// The engine's calls, for a write to a collection.
    private func engine(writingTo collection: String) throws -> EngineScope {
        try collection.rejectOwnCollection()
        try checkMayWrite()
        return engine
    }
}

// MARK: - Transaction: replacing

extension Database.Transaction {
    /// Runs a closure that drops a collection and puts another one in its stead.
    ///
    /// To those who refer to it, nothing was removed: delete rules are not applied, and references to documents that the new
    /// collection does not have dangle. The new one gets the references, timestamps and validator of the old one.
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
            if let validator = old.validator {
                try setValidator(validator, for: collection, level: old.validationLevel)
            }
        }
        for holder in holders { try setReferences(holder.references, of: holder.name) }
    }
}

// MARK: - Replicated

// What the module TansuSync keeps of a replicated collection is in collections that have its name in theirs. It moves in the
// transaction that renames the collection, also in programs without that module.
extension Session {
    private static let attachments = "tansu.attachments."
    private static let ownPrefixes = ["tansu.revisions.", "tansu.bodies.", "tansu.local."]
    private static let indexes = "tansu.indexes"
    private static let longestName = 120

    /// Whether a collection is replicated.
    func isReplicated(_ collection: String) throws -> Bool {
        try engine.document(.string(collection), in: CommandLimits.replicationStates) != nil
    }

    /// Gives what is kept of a replicated collection its new name, once the collection has it; of another one nothing is kept.
    package func moveReplication(of name: String, to newName: String) throws {
        guard var state = try engine.document(.string(name), in: CommandLimits.replicationStates) else { return }
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
        _ = try engine.remove(id: .string(name), from: CommandLimits.replicationStates)
        state["_id"] = .string(newName)
        _ = try state.withUnsafeBytes { try engine.save($0, .save, in: CommandLimits.replicationStates) }
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
