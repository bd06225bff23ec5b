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
        return try all.reduce(0) { count, files in
            try count + writeInCall(cancelledBy: flag) { try $0.import(files, mode) }
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
        let chosen = names ?? there.filter { !CommandLimits.isOwned($0) }
        return try ExportFiles.toWrite(chosen, in: directory).reduce(0) { count, files in
            let name = files.collection
            let collection = try self.collection(name)
            var meta: BSONDocument = ["name": .string(name)]
            meta["indexes"] = BSONValue(try collection.indexDocuments().map { .document($0) })
            let info = try session.collectionInfo(name)
            if let schema = info?.schema {
                meta["schema"] = .document(schema)
            } else if let validator = info?.validator {
                meta["validator"] = .document(validator)
            }
            if let level = info?.validationLevel, level != .strict { meta["validationLevel"] = .string(level.rawValue) }
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
            // Its validator is that of the folder, or none.
            try setSchema(nil, for: name)
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
        let level = meta["validationLevel"]?.stringValue.flatMap(Database.ValidationLevel.init) ?? .strict
        if let schema = meta["schema"]?.documentValue {
            try setSchema(DocumentSchema(schema), for: name, level: level)
        } else if let validator = meta["validator"]?.documentValue {
            try setValidator(validator, for: name, level: level)
        }
        return count
    }
}

/// The two files of an exported collection.
struct ExportFiles {
    let directory: URL
    let collection: String
    private let stem: String

    private static let metaEnding = "-meta.json"
    private static let ending = ".json"

    private init(directory: URL, collection: String, stem: String) {
        self.directory = directory
        self.collection = collection
        self.stem = stem
    }

    /// The files to write for some collections.
    static func toWrite(_ collections: [String], in directory: String) throws -> [ExportFiles] {
        // Where file systems ignore case, "A" and "a" would be one file: capitals are then spelled out as codes.
        let alike = Dictionary(grouping: Set(collections)) { $0.lowercased() }
        return try collections.map { name in
            var allowed = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyz0123456789-_ ")
            if alike[name.lowercased()]?.count == 1 {
                allowed.insert(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
            }
            guard let stem = name.addingPercentEncoding(withAllowedCharacters: allowed) else {
                throw TansuError(
                    .invalidName, "The collection name \"\(name)\" cannot be a file name; rename the collection",
                    context: name)
            }
            return ExportFiles(
                directory: URL(fileURLWithPath: directory, isDirectory: true), collection: name, stem: stem)
        }
    }

    /// The files that a folder has of some collections, or of all.
    static func toRead(_ collections: [String]?, in directory: String) throws -> [ExportFiles] {
        let folder = URL(fileURLWithPath: directory, isDirectory: true)
        let all = try reportingFiles(directory) {
            try FileManager.default.contentsOfDirectory(atPath: directory)
                .filter { $0.hasSuffix(metaEnding) }
                .map { String($0.dropLast(metaEnding.count)) }
                .compactMap { stem in
                    stem.removingPercentEncoding.map {
                        ExportFiles(directory: folder, collection: $0, stem: stem)
                    }
                }
        }
        guard let collections else { return all.sorted { $0.collection < $1.collection } }
        return try collections.map { name in
            guard let files = all.first(where: { $0.collection.utf8.elementsEqual(name.utf8) }) else {
                throw TansuError(
                    .notFound, "Collection \"\(name)\" does not exist in the folder \"\(directory)\"; check the name",
                    context: name)
            }
            return files
        }
    }

    private func url(_ ending: String) -> URL {
        directory.appendingPathComponent(stem + ending)
    }

    /// Writes the indexes and the schema of the collection.
    func write(_ meta: BSONDocument) throws {
        let url = url(Self.metaEnding)
        try Self.reportingFiles(url.path) {
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            try Data(meta.extendedJSONBytes(.canonical, pretty: true)).write(to: url, options: .atomic)
        }
    }

    /// Writes a line for each document, and returns their number. The old file is replaced at the end.
    func write(documents: Database.Collection<BSONDocument>) throws -> Int {
        let url = url(Self.ending)
        let unfinished = url.appendingPathExtension("unfinished")
        return try Self.reportingFiles(url.path) {
            try Data().write(to: unfinished)
            let file = try FileHandle(forWritingTo: unfinished)
            var count = 0
            var lines = Data()
            do {
                try documents.find().forEach { document in
                    lines.append(contentsOf: document.extendedJSONBytes(.canonical))
                    lines.append(0x0A)
                    count += 1
                    if lines.count > 1 << 20 {
                        try file.write(contentsOf: lines)
                        lines.removeAll(keepingCapacity: true)
                    }
                }
                try file.write(contentsOf: lines)
                try file.close()
                // rename(2) replaces an existing file; FileManager's move does not.
                guard rename(unfinished.path, url.path) == 0 else {
                    throw TansuError(
                        .io, "The file \"\(unfinished.path)\" could not be renamed", context: url.path,
                        systemErrno: errno)
                }
            } catch {
                try? file.close()
                try? FileManager.default.removeItem(at: unfinished)
                throw error
            }
            return count
        }
    }

    /// The indexes and the schema of the collection.
    func readMeta() throws -> BSONDocument {
        let url = url(Self.metaEnding)
        return try Self.reportingFiles(url.path) {
            let bytes = try Data(contentsOf: url)
            return try Self.document(bytes[...], url.lastPathComponent)
        }
    }

    /// Calls the closure with each document.
    func readDocuments(_ body: (BSONDocument) throws -> Void) throws {
        let url = url(Self.ending)
        try Self.reportingFiles(url.path) {
            var rest = try Data(contentsOf: url, options: .mappedIfSafe)[...]
            var number = 0
            while !rest.isEmpty {
                let line = rest.prefix { $0 != 0x0A }
                rest = rest[line.endIndex...].dropFirst()
                number += 1
                if line.allSatisfy({ $0 == 0x20 || $0 == 0x0D || $0 == 0x09 }) { continue }
                try body(Self.document(line, "\(url.lastPathComponent):\(number)"))
            }
        }
    }

    private static func document(_ json: Data, _ location: String) throws -> BSONDocument {
        do {
            return try BSONDocument(extendedJSON: json)
        } catch let error as BSONError {
            throw TansuError(.invalidJSON, error.message, context: location, offset: error.offset.map(Int64.init))
        }
    }

    /// Converts errors of Foundation to errors of the library.
    private static func reportingFiles<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as CocoaError {
            let isMissing = error.code == .fileReadNoSuchFile || error.code == .fileNoSuchFile
            throw TansuError(isMissing ? .notFound : .io, error.localizedDescription, context: path)
        }
    }
}
