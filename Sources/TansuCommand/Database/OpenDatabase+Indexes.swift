import Tansu
import TansuBSON

extension OpenDatabase {
    /// Creates an index and returns its name.
    /// - Parameters:
    ///   - keys: The paths with 1 for ascending and -1 for descending.
    ///   - progress: Receives the progress of the build.
    func createIndex(
        _ name: String?, on collection: String, keys: BSONDocument, unique: Bool = false, sparse: Bool = false,
        caseInsensitive: Bool = false, partialFilter: BSONDocument? = nil,
        maxEntries: Int? = nil, progress: (Database.Progress) throws -> Void = { _ in }
    ) throws -> String {
        let paths = try keys.map { path, value -> Database.IndexKey in
            switch value.intValue {
            case 1: return Database.IndexKey(path, .ascending)
            case -1: return Database.IndexKey(path, .descending)
            default:
                throw CommandError(
                    code: "INVALID_INDEX", message: "Path \"\(path)\" has the direction \(value)", path: path,
                    remedy: "use 1 for ascending or -1 for descending")
            }
        }
        let name = name ?? OpenDatabase.indexName(for: keys)
        do {
            try database.collection(collection).ensureIndex(
                name, on: paths, unique: unique, sparse: sparse, caseInsensitive: caseInsensitive,
                partialFilter: partialFilter, maxEntries: maxEntries, progress: progress)
        } catch let error as TansuError {
            var failure = CommandError(error)
            for (word, option) in Self.indexOptions {
                failure.message = failure.message.replacing("option \"\(word)\"", with: "option \"\(option)\"")
            }
            throw failure
        }
        return name
    }

    /// The engine's names of the options, and those of the command line.
    private static let indexOptions = [
        ("unique", "--unique"), ("sparse", "--sparse"), ("caseInsensitive", "--case-insensitive"),
        ("partialFilter", "--partial-filter"), ("maxEntries", "--max-entries"),
    ]

    /// The default name of an index, the same as in the engine: "name_1_age_-1".
    static func indexName(for keys: BSONDocument) -> String {
        keys.map { "\($0.key)_\($0.value.intValue ?? 0)" }.joined(separator: "_")
    }

    /// The command line that creates an index with these keys.
    static func indexCommand(_ path: String, _ collection: String, keys: BSONDocument) -> String {
        let isPlain = keys.keys.allSatisfy { path in
            path.utf8.allSatisfy { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "{") && $0 != 0x20 }
        }
        let words = keys.map { ($0.value == .int32(-1) ? "-" : "") + $0.key }.joined(separator: ",")
        let text = isPlain ? words : keys.json()
        let target = "\(shellQuoted(path)) \(shellQuoted(collection))"
        return "\(ProgramName.current()) index create \(target) \(shellQuoted(text))"
    }

    /// The descriptions of a collection's indexes as documents.
    func indexDocuments(of collection: String) throws -> [BSONDocument] {
        try existingCollection(collection).indexes().map { index in
            let keys = BSONDocument(
                index.keys.map { ($0.path, .int32($0.direction == .ascending ? 1 : -1)) })
            var document: BSONDocument = [
                "name": .string(index.name), "keys": .document(keys), "unique": .bool(index.isUnique),
                "multikey": .bool(index.isMultikey), "entries": BSONValue(index.entries),
            ]
            // The engine too reports these options only when they are set.
            if index.isSparse { document["sparse"] = true }
            if index.isCaseInsensitive { document["caseInsensitive"] = true }
            if let filter = index.partialFilter { document["partialFilter"] = .document(filter) }
            document["maxEntries"] = index.maxEntries.map { BSONValue($0) }
            if !index.only.isEmpty { document["only"] = BSONValue(index.only.map { .string($0) }) }
            if !index.except.isEmpty { document["except"] = BSONValue(index.except.map { .string($0) }) }
            return document
        }
    }
}
