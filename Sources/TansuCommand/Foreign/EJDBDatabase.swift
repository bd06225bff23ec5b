import Foundation
import Tansu
import TansuBSON

/// A database of EJDB 1: a table of Tokyo Cabinet with the names, options and indexes of the collections, and beside it
/// one for each collection, with the name of the database, an underscore and that of the collection.
struct EJDBDatabase: ForeignDatabase {
    private(set) var collections: [ForeignCollection] = []
    private(set) var faults: [String] = []

    private static let faultLimit = 100

    /// - Parameter path: The file of the names, which has the name of the database.
    /// - Throws: `CommandError` when it is no database of EJDB.
    init(path: String) throws {
        let file = try TokyoCabinetFile(path: path)
        while let item = try file.next() {
            guard faults.count < Self.faultLimit else {
                faults.append("\(path): The rest of the list is left out, because too much of it is damaged")
                break
            }
            switch item {
            case .damage(let range, let fault):
                faults.append("\(path), byte \(range.lowerBound): \(fault)")
            case .record(let key, let value, let offset):
                guard let columns = Self.columns(of: value), let name = String(utf8: key),
                    columns.contains(where: { $0.name == "name" })
                else {
                    // A collection has the documents themselves.
                    if key.count == 12, Self.columns(of: value)?.first?.name == "$" {
                        throw Self.isCollection(path)
                    }
                    faults.append("\(path), byte \(offset): A collection's name or options cannot be read")
                    continue
                }
                add(name, columns, path)
            }
        }
        if !faults.isEmpty { addUnlisted(path) }
    }

    private static func isCollection(_ path: String) -> CommandError {
        .wrongFile(
            path, "is one collection of a database of EJDB",
            remedy: "name the file of the database, without the underscore and the collection; nothing was changed")
    }

    private mutating func add(_ name: String, _ columns: [(name: String, value: ArraySlice<UInt8>)], _ path: String) {
        // The name is part of a path.
        guard !name.isEmpty, !name.utf8.contains(UInt8(ascii: "/")), !name.utf8.contains(0) else {
            faults.append("\(path): The name \(jsonText(name)) of a collection is invalid")
            return
        }
        let file = "\(path)_\(name)"
        var collection = ForeignCollection(name: name, label: (file as NSString).lastPathComponent) {
            try EJDBDocuments(path: file)
        }
        for (column, value) in columns where column != "name" {
            guard let document = try? BSONDocument(bytes: value) else {
                faults.append("\(path): \"\(column)\" of the collection \"\(name)\" cannot be read")
                continue
            }
            if column == "opts" {
                if document["compressed"]?.boolValue == true { collection.compression = .lz4 }
            } else if column.hasPrefix("i") {
                collection.indexes += Self.indexes(of: document, column)
            }
        }
        collections.append(collection)
    }

    /// The indexes that serve what an index of EJDB does: one for text, numbers and arrays, one without letter case.
    private static func indexes(of document: BSONDocument, _ column: String) -> [ForeignIndex] {
        let path = document["ipath"]?.stringValue ?? String(decoding: column.utf8.dropFirst(), as: UTF8.self)
        let kinds = document["iflags"]?.intValue ?? 0
        let (numbers, text, arrays, foldedText) = (1 << 4, 1 << 5, 1 << 6, 1 << 7)
        var indexes: [ForeignIndex] = []
        if kinds & (numbers | text | arrays) != 0 { indexes.append(ForeignIndex(keys: [path: 1])) }
        if kinds & foldedText != 0 {
            indexes.append(
                ForeignIndex(name: "\(path)_1_ignoring_case", keys: [path: 1], options: ["caseInsensitive": true]))
        }
        return indexes
    }

    /// Adds the collections whose files are there, because the list of them is damaged.
    private mutating func addUnlisted(_ path: String) {
        let folder = (path as NSString).deletingLastPathComponent
        let prefix = (path as NSString).lastPathComponent + "_"
        let known = collections.map(\.name)
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.isEmpty ? "." : folder)) ?? []
        for file in files.sorted() {
            guard let name = file.dropping(prefix: prefix), !name.isEmpty, !known.contains(name),
                !name.hasSuffix(".wal"), (try? EJDBDocuments(path: path + "_" + name)) != nil
            else { continue }
            collections.append(
                ForeignCollection(name: name, label: file) { try EJDBDocuments(path: path + "_" + name) })
            faults.append("\(path): The collection \"\(name)\" is not in the list; its options and indexes are lost")
        }
    }

    /// The columns of a row of a table: names and values, each after its size.
    static func columns(of row: [UInt8]) -> [(name: String, value: ArraySlice<UInt8>)]? {
        var columns: [(name: String, value: ArraySlice<UInt8>)] = []
        var index = 0
        func next() -> ArraySlice<UInt8>? {
            guard let size = TokyoCabinetFile.variableNumber(row[...], &index), index + size <= row.count else {
                return nil
            }
            defer { index += size }
            return row[index..<(index + size)]
        }
        while index < row.count {
            guard let bytes = next(), let name = String(utf8: bytes), let value = next() else { return nil }
            columns.append((name, value))
        }
        return columns
    }
}

/// The documents of a collection of EJDB.
final class EJDBDocuments: DocumentSource {
    private let file: TokyoCabinetFile

    init(path: String) throws { file = try TokyoCabinetFile(path: path) }

    var unit: String { "byte" }
    var fraction: Double? { file.fraction }

    func nextDocument() throws -> SourceDocument? {
        switch try file.next() {
        case nil: nil
        case .damage(let range, let fault):
            SourceDocument(
                position: range.lowerBound,
                content: .failure(
                    InvalidDocument(message: range.isEmpty ? fault : "\(fault); \(range.count) bytes are left out")))
        case .record(let key, let value, let offset):
            SourceDocument(position: offset, content: Self.document(key, value))
        }
    }

    private static func document(_ key: [UInt8], _ value: [UInt8]) -> Result<BSONDocument, InvalidDocument> {
        guard let column = EJDBDatabase.columns(of: value)?.first(where: { $0.name == "$" }) else {
            return .failure(InvalidDocument(message: "The record is no document"))
        }
        do {
            var document = try BSONDocument(bytes: column.value)
            // The key is what EJDB finds a document by.
            if let id = ObjectID(bytes: key), document["_id"] != .objectID(id) { document["_id"] = .objectID(id) }
            return .success(document)
        } catch {
            return .failure(InvalidDocument(message: CommandError(error).message))
        }
    }
}
