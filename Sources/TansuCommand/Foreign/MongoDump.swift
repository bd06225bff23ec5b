import Foundation
import Tansu
import TansuBSON

/// What mongodump wrote: a folder with a file of documents and one of metadata for each collection, or an archive.
struct MongoDump: ForeignDatabase {
    private(set) var collections: [ForeignCollection] = []
    private(set) var faults: [String] = []

    /// - Parameter path: The folder of a database, one above it that has only that, a file of documents, or an archive.
    /// - Throws: `CommandError` when there is nothing of mongodump.
    init(path: String) throws {
        switch FileKind(folder: path) {
        case .database?: throw CommandError.wrongFile(path, "is a database of this program")
        case nil: try addFile(path)
        default:
            let folder = try Self.databaseFolder(path)
            let names = try Self.contents(of: folder)
            for name in names.filter({ Self.stem(of: $0) != nil }) { try addFile("\(folder)/\(name)") }
            addViews(folder, names)
        }
    }

    private static func contents(of folder: String) throws -> [String] {
        do { return try FileManager.default.contentsOfDirectory(atPath: folder).sorted() } catch {
            throw CommandError(
                code: "NO_INPUT", message: "Cannot read the folder \"\(folder)\"", path: folder, status: .noInput)
        }
    }

    /// The name of a file of documents without its extension; nil for another file.
    private static func stem(of file: String) -> String? {
        [".bson", ".bson.gz", ".bson.zst"].lazy.compactMap { file.dropping(suffix: $0) }.first
    }

    /// The folder that has the files of one database.
    private static func databaseFolder(_ path: String) throws -> String {
        let names = try contents(of: path)
        if names.contains(where: { stem(of: $0) != nil }) { return path }
        let folders = try names.filter { name in
            guard FileKind(folder: "\(path)/\(name)") == .folder, !["admin", "config", "local"].contains(name)
            else { return false }
            return try contents(of: "\(path)/\(name)").contains { stem(of: $0) != nil }
        }
        guard folders.count <= 1 else {
            throw CommandError.wrongFile(
                path, "has several databases", remedy: "name one of the folders \(folders.joined(separator: ", "))")
        }
        guard let folder = folders.first else {
            throw CommandError.wrongFile(path, "has no files of mongodump (NAME.bson)")
        }
        return "\(path)/\(folder)"
    }

    private mutating func addFile(_ path: String) throws {
        let file = (path as NSString).lastPathComponent
        let source = try openCompressedSource(path: path)
        if let head = try? source.first(4), head == MongoArchive.magic {
            let archive = try MongoArchive(path: path)
            for part in archive.parts {
                add(part.name, label: part.name, Self.metadata(part.metadata)) {
                    try MongoArchiveDocuments(path: path, part)
                }
            }
            faults += archive.faults
            return
        }
        guard let stem = Self.stem(of: file) else { throw CommandError.wrongFile(path, "is no file of mongodump") }
        let folder = (path as NSString).deletingLastPathComponent
        let base = folder.isEmpty ? stem : "\(folder)/\(stem)"
        let metadata = Self.metadata(Self.text(of: "\(base).metadata.json"))
        if metadata == nil, stem.asciiLowercased != "oplog" {
            faults.append(
                "\(file): There is no file of metadata that can be read; indexes and options are not imported")
        }
        // Slashes and other characters are written as %2F.
        let name = metadata?["collectionName"]?.stringValue ?? stem.removingPercentEncoding ?? stem
        add(name, label: file, metadata) { try BSONDocuments(path: path) }
    }

    /// The views of a database have only metadata.
    private mutating func addViews(_ folder: String, _ names: [String]) {
        let stems = names.compactMap(Self.stem)
        for name in names {
            guard let stem = name.dropping(suffix: ".metadata.json") ?? name.dropping(suffix: ".metadata.json.gz"),
                !stems.contains(stem)
            else { continue }
            faults.append("\"\(stem)\" is a view or has no documents file, and was not imported")
        }
    }

    /// The text of a file, compressed or not; nil when there is none.
    private static func text(of path: String) -> [UInt8]? {
        for file in [path, path + ".gz", path + ".zst"] where FileManager.default.fileExists(atPath: file) {
            return try? openCompressedSource(path: file).first(64 << 20)
        }
        return nil
    }

    private static func metadata(_ text: [UInt8]?) -> BSONDocument? {
        text.flatMap { text in try? text.withUnsafeBytes { try BSONDocument(storedJSON: $0) } }
    }

    private mutating func add(
        _ name: String, label: String, _ metadata: BSONDocument?, _ open: @escaping () throws -> any DocumentSource
    ) {
        if name.hasPrefix("system.") || name == "oplog" {
            faults.append("\"\(name)\" is a collection of the server itself, and was not imported")
            return
        }
        var collection = ForeignCollection(name: name, label: label, open: open)
        for index in metadata?["indexes"]?.arrayValue ?? [] {
            guard let description = index.documentValue else { continue }
            let converted = MongoIndex(description)
            if let index = converted.index { collection.indexes.append(index) }
            collection.notes += converted.notes
        }
        addOptions(metadata?["options"]?.documentValue ?? [:], &collection)
        collections.append(collection)
    }

    private func addOptions(_ options: BSONDocument, _ collection: inout ForeignCollection) {
        if let rules = options["validator"]?.documentValue, !rules.isEmpty {
            let isWarning = options["validationAction"] == "warn"
            let level =
                Database.ValidationLevel(rawValue: options["validationLevel"]?.stringValue ?? "strict") ?? .strict
            collection.validator = (rules, isWarning && level != .off ? .warn : level)
        }
        let known = ["validator", "validationLevel", "validationAction", "uuid", "autoIndexId", "storageEngine"]
        for (option, value) in options where !known.contains(option) && value != false {
            collection.notes.append("The option \"\(option)\" of the collection has no counterpart")
        }
    }
}

/// An index of MongoDB as one of this database.
struct MongoIndex {
    private(set) var index: ForeignIndex?
    /// What of it has no counterpart.
    private(set) var notes: [String] = []

    private static let ignored = ["v", "key", "name", "ns", "background", "textIndexVersion", "weights"]

    init(_ description: BSONDocument) {
        let name = description["name"]?.stringValue
        let key = description["key"]?.documentValue ?? [:]
        if key.count == 1, key.first?.key == "_id" { return }
        let shown = name ?? key.json()
        guard description["weights"] == nil else {
            addWords(description, key, name, shown)
            return
        }
        var keys = BSONDocument()
        for (path, value) in key {
            let path = path == "$**" ? "**" : path.dropping(suffix: ".$**").map { "\($0).**" } ?? path
            if let number = value.doubleValue ?? value.intValue.map(Double.init) {
                keys[path] = .int32(number < 0 ? -1 : 1)
            } else if value == "hashed" {
                keys[path] = .int32(1)
                notes.append("Index \"\(shown)\" is hashed; here it is sorted")
            } else {
                notes.append("Index \"\(shown)\" is of the kind \(value), and was not created")
                return
            }
        }
        index = ForeignIndex(name: name, keys: keys, options: options(of: description, shown))
    }

    /// An index of words: its paths are those of the weights.
    private mutating func addWords(
        _ description: BSONDocument, _ key: BSONDocument, _ name: String?, _ shown: String
    ) {
        guard key.keys.allSatisfy({ ["_fts", "_ftsx"].contains($0) }) else {
            notes.append("Index \"\(shown)\" of words has other keys, and was not created")
            return
        }
        let weights = (description["weights"]?.documentValue ?? [:]).map { path, weight in
            (path == "$**" ? "**" : path, weight)
        }
        var options = BSONDocument()
        let known = ["default_language", "language_override"]
        let language = description["default_language"]?.stringValue ?? "english"
        if language != "none" { options["language"] = .string(language) }
        if let field = description["language_override"]?.stringValue, field != "language" {
            options["languageField"] = .string(field)
        }
        let others = weights.filter { $0.1 != 1 && $0.1.intValue != 1 }
        if !others.isEmpty { options["weights"] = .document(BSONDocument(others)) }
        for (option, value) in self.options(of: description, shown, except: known) { options[option] = value }
        index = ForeignIndex(
            name: name, keys: BSONDocument(weights.map { ($0.0, .string("text")) }), options: options)
    }

    private mutating func options(
        of description: BSONDocument, _ shown: String, except known: [String] = []
    ) -> BSONDocument {
        var options = BSONDocument()
        for (option, value) in description where !(Self.ignored + known).contains(option) && value != false {
            switch option {
            case "unique", "sparse": options[option] = true
            case "expireAfterSeconds": options[option] = value.intValue.map { BSONValue($0) } ?? value
            case "partialFilterExpression": options["partialFilter"] = value
            case "wildcardProjection": addProjection(value.documentValue ?? [:], &options)
            case "collation":
                let collation = value.documentValue ?? [:]
                if collation["locale"] == "simple" { continue }
                if let strength = collation["strength"]?.intValue, strength <= 2 { options["caseInsensitive"] = true }
                notes.append("Index \"\(shown)\" has a collation; here it compares by bytes or without case")
            default: notes.append("The option \"\(option)\" of index \"\(shown)\" has no counterpart")
            }
        }
        return options
    }

    private func addProjection(_ projection: BSONDocument, _ options: inout BSONDocument) {
        let (included, excluded) = projection.reduce(into: ([BSONValue](), [BSONValue]())) { lists, field in
            if field.value == false || field.value.intValue == 0 {
                lists.1.append(.string(field.key))
            } else {
                lists.0.append(.string(field.key))
            }
        }
        if !included.isEmpty { options["only"] = BSONValue(included) }
        if !excluded.isEmpty, included.isEmpty { options["except"] = BSONValue(excluded) }
    }
}
