import Foundation
public import Tansu

// The API of EJDBKit: a folder of JSON files, two for each collection.
extension Database {
    /// What `importCollections` does with an existing collection.
    public enum ImportMode: Sendable, Hashable {
        /// Its documents stay, except those whose `_id` is imported.
        case update

        /// It is dropped first, with its indexes.
        case replace
    }

    /// *EJDBKit's way* of writing collections to files: of each `NAME.json`, a document a line in canonical extended
    /// JSON, and `NAME-meta.json`, its indexes and its schema. All are of one snapshot.
    ///
    /// - Parameters:
    ///   - names: Which collections; all but the library's own (`tansu.…`) when `nil`.
    ///   - directory: The folder; it is made if need be. Files of these names are replaced.
    /// - Returns: How many documents were written.
    /// - Throws: `TansuError` with `.notFound` (no such collection) or `.io`.
    @discardableResult
    public func exportCollections(_ names: [String]? = nil, toDirectory directory: String) throws -> Int {
        try read { try $0.export(names, to: directory) }
    }

    /// *EJDBKit's way* of writing collections to files, on a thread of the database.
    ///
    /// - Parameters:
    ///   - names: Which collections; all but the library's own when `nil`.
    ///   - directory: The folder.
    /// - Returns: How many documents were written.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func exportCollections(_ names: [String]? = nil, toDirectory directory: String) async throws -> Int {
        try await read { try $0.export(names, to: directory) }
    }

    /// *EJDBKit's way* of reading collections from the files that `exportCollections` wrote. Each collection is
    /// imported whole, with its indexes and its schema, or not at all.
    ///
    /// - Parameters:
    ///   - names: Which collections; all that the folder has when `nil`.
    ///   - directory: The folder.
    ///   - mode: What to do with existing collections.
    /// - Returns: How many documents were read.
    /// - Throws: `TansuError` with `.notFound` (no such file), `.invalidJSON` (the context names file and line),
    ///   `.io`, and what saving documents and making indexes can throw. Collections before the one at fault are
    ///   imported.
    @discardableResult
    public func importCollections(
        _ names: [String]? = nil, fromDirectory directory: String, mode: ImportMode = .update
    ) throws -> Int {
        try importCollections(names, directory, mode, cancelledBy: nil)
    }

    /// *EJDBKit's way* of reading collections from files, on a thread of the database.
    ///
    /// - Parameters:
    ///   - names: Which collections; all that the folder has when `nil`.
    ///   - directory: The folder.
    ///   - mode: What to do with existing collections.
    /// - Returns: How many documents were read.
    /// - Throws: As the synchronous variant, and `CancellationError`.
    @discardableResult
    public func importCollections(
        _ names: [String]? = nil, fromDirectory directory: String, mode: ImportMode = .update
    ) async throws -> Int {
        try await runWriting { flag in try self.importCollections(names, directory, mode, cancelledBy: flag) }
    }

    private func importCollections(
        _ names: [String]?, _ directory: String, _ mode: ImportMode, cancelledBy flag: CancellationFlag?
    ) throws -> Int {
        let all = try ExportFiles.toRead(names, in: directory)
        return try settingSchemas(cancelledBy: flag) {
            try all.reduce(0) { count, files in
                try count + writeInCall(cancelledBy: flag) { try $0.import(files, mode) }
            }
        }
    }
}

extension Database.Transaction {
    fileprivate func export(_ names: [String]?, to directory: String) throws -> Int {
        let there = try collectionNames()
        for name in names ?? [] where !there.contains(name) {
            throw TansuError(
                .notFound, "Collection \"\(name)\" does not exist; list the collections with collectionNames()",
                context: name)
        }
        let chosen = names ?? there.filter { !$0.hasPrefix("tansu.") }
        return try ExportFiles.toWrite(chosen, in: directory).reduce(0) { count, files in
            let name = files.collection
            let collection = try self.collection(name)
            var meta: BSONDocument = ["name": .string(name)]
            meta["indexes"] = BSONValue(try collection.indexDocuments().map { .document($0) })
            meta["schema"] = try session.schema(of: name).map { .document($0.document) }
            try files.write(meta)
            return try count + files.write(documents: collection)
        }
    }

    fileprivate func `import`(_ files: ExportFiles, _ mode: Database.ImportMode) throws -> Int {
        let name = files.collection
        let meta = try files.readMeta()
        if mode == .replace {
            try replacing(name) {
                try dropCollection(name)
                try ensureCollection(name)
            }
        } else {
            try ensureCollection(name)
        }
        let collection = try self.collection(name)
        var count = 0
        try files.readDocuments { document in
            try collection.save(document)
            count += 1
        }
        for index in meta["indexes"]?.arrayValue?.compactMap(\.documentValue).map(Database.IndexInfo.init) ?? [] {
            try collection.ensureIndex(like: index)
        }
        if let schema = meta["schema"]?.documentValue {
            try session.setSchema(DocumentSchema(schema), for: name)
        }
        return count
    }
}
