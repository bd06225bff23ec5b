import Foundation

/// The two files of an exported collection.
struct ExportFiles {
    let directory: URL
    let collection: String

    private static let metaEnding = "-meta.json"
    private static let ending = ".json"

    init(directory: String, collection: String) {
        self.directory = URL(fileURLWithPath: directory, isDirectory: true)
        self.collection = collection
    }

    /// The collections that a folder has files of.
    static func names(in directory: String) throws -> [String] {
        try reportingFiles(directory) {
            try FileManager.default.contentsOfDirectory(atPath: directory)
                .filter { $0.hasSuffix(metaEnding) }
                .compactMap { String($0.dropLast(metaEnding.count)).removingPercentEncoding }
                .sorted()
        }
    }

    /// A name may have any character, a file's name not.
    private func url(_ ending: String) throws -> URL {
        var allowed = CharacterSet.alphanumerics
        allowed.insert(charactersIn: "-_ ")
        guard let file = collection.addingPercentEncoding(withAllowedCharacters: allowed) else {
            throw TansuError(.invalidName, "the name cannot be that of a file", context: collection)
        }
        return directory.appendingPathComponent(file + ending)
    }

    /// Writes what there is to tell of the collection beside its documents.
    func write(_ meta: BSONDocument) throws {
        let url = try url(Self.metaEnding)
        try Self.reportingFiles(url.path) {
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            try Data(meta.extendedJSONBytes(.canonical, pretty: true)).write(to: url, options: .atomic)
        }
    }

    /// Writes a line for each document, beside the old file until all are there; how many.
    func write(documents: Database.Collection<BSONDocument>) throws -> Int {
        let url = try url(Self.ending)
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
                // rename(2) takes the place of what is there; FileManager's move does not.
                guard rename(unfinished.path, url.path) == 0 else {
                    throw TansuError(.io, "the file cannot be renamed", context: url.path, systemErrno: errno)
                }
            } catch {
                try? file.close()
                try? FileManager.default.removeItem(at: unfinished)
                throw error
            }
            return count
        }
    }

    /// What there is to tell of the collection beside its documents.
    func readMeta() throws -> BSONDocument {
        let url = try url(Self.metaEnding)
        return try Self.reportingFiles(url.path) {
            let bytes = try Data(contentsOf: url)
            return try Self.document(bytes[...], url.lastPathComponent)
        }
    }

    /// Calls the closure with each document.
    func readDocuments(_ body: (BSONDocument) throws -> Void) throws {
        let url = try url(Self.ending)
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

    private static func document(_ json: Data, _ place: String) throws -> BSONDocument {
        do {
            return try BSONDocument(extendedJSON: json)
        } catch let error as BSONError {
            throw TansuError(.invalidJSON, error.message, context: place, offset: error.offset.map(Int64.init))
        }
    }

    /// Makes errors of Foundation what other errors of the library are.
    private static func reportingFiles<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as CocoaError {
            let isMissing = error.code == .fileReadNoSuchFile || error.code == .fileNoSuchFile
            throw TansuError(isMissing ? .notFound : .io, error.localizedDescription, context: path)
        }
    }
}
