import Tansu
import TansuBSON

extension Store {
    /// Creates an index, and tells its name.
    /// - Parameters:
    ///   - keys: Paths, each with 1 or -1.
    ///   - progress: Told how many of the documents are read.
    func createIndex(
        _ name: String?, on collection: String, keys: BSONDocument, unique: Bool = false, sparse: Bool = false,
        caseInsensitive: Bool = false, partialFilter: BSONDocument? = nil,
        progress: (Database.Progress) -> Void = { _ in }
    ) throws -> String {
        let paths = try keys.map { path, value -> Database.IndexKey in
            switch value.intValue {
            case 1: return Database.IndexKey(path, .ascending)
            case -1: return Database.IndexKey(path, .descending)
            default:
                throw CommandFailure(
                    code: "INVALID_INDEX", message: "The direction of \(path) is \(value).", path: path,
                    remedy: "It is 1 (ascending) or -1 (descending).")
            }
        }
        let name = name ?? Store.indexName(for: keys)
        try database.collection(collection).ensureIndex(
            name, on: paths, unique: unique, sparse: sparse, caseInsensitive: caseInsensitive,
            partialFilter: partialFilter, progress: progress)
        return name
    }

    /// The name that the engine too gives an index without one: "name_1_age_-1".
    static func indexName(for keys: BSONDocument) -> String {
        keys.map { "\($0.key)_\($0.value.intValue ?? 0)" }.joined(separator: "_")
    }

    /// The command line that creates an index with these keys.
    static func indexCommand(_ path: String, _ collection: String, keys: BSONDocument) -> String {
        let isPlain = keys.keys.allSatisfy { path in
            path.utf8.allSatisfy { $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "{") && $0 != 0x20 }
        }
        // A word with a minus at its beginning would be an option.
        let words = keys.map { ($0.value == .int32(-1) ? "-" : "") + $0.key }.joined(separator: ",")
        let text = isPlain && !words.hasPrefix("-") ? words : keys.json()
        let place = "\(FileNames.shellQuoted(path)) \(FileNames.shellQuoted(collection))"
        return "\(ProgramName.current()) index create \(place) \(FileNames.shellQuoted(text))"
    }

    /// What there is to tell of each index of a collection.
    func indexDocuments(of collection: String) throws -> [BSONDocument] {
        try existingCollection(collection).indexes().map { index in
            let keys = BSONDocument(
                index.keys.map { ($0.path, .int32($0.direction == .ascending ? 1 : -1)) })
            var document: BSONDocument = [
                "name": .string(index.name), "keys": .document(keys), "unique": .bool(index.isUnique),
                "multikey": .bool(index.isMultikey), "entries": BSONValue(index.entries),
            ]
            // Only where they were asked for, as the engine tells them.
            if index.isSparse { document["sparse"] = true }
            if index.isCaseInsensitive { document["caseInsensitive"] = true }
            if let filter = index.partialFilter { document["partialFilter"] = .document(filter) }
            return document
        }
    }
}
